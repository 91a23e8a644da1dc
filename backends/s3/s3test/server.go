// Package s3test is a directory bucket of S3 Express One Zone in the test's own process: sessions with short lives,
// listings in no order, whole-directory prefixes, conditional writes, checksums, and the ways in which all that fails.
//
// It takes nothing on trust. It verifies the signature of every request, that requests for objects are signed with a
// session and CreateSession without one, and that a PUT carries its checksum and its condition; what is wrong goes to
// Options.Complain, so that it fails the test and not only the request.
package s3test

import (
	"context"
	"fmt"
	"hash/fnv"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// The long-term credentials, and the region, that the server knows; OtherRegion is where a bucket that was Moved is.
const (
	AccessKey   = "AKIDWALBRIDGE"
	SecretKey   = "s3cret"
	Region      = "us-east-1"
	OtherRegion = "eu-west-1"
)

const regionHeader = "X-Amz-Bucket-Region"

// The operations, by the names that Fault, Calls and Latency know them by.
const (
	CreateSession = "CreateSession"
	HeadBucket    = "HeadBucket"
	PutObject     = "PutObject"
	GetObject     = "GetObject"
	HeadObject    = "HeadObject"
	ListObjects   = "ListObjectsV2"
	DeleteObjects = "DeleteObjects"
	GetLifecycle  = "GetBucketLifecycleConfiguration"
	otherRequest  = "other"
)

// Options shape a Server. The zero value of a field is its default.
type Options struct {
	// Bucket is the directory bucket's name. Default walbridge--use1-az4--x-s3.
	Bucket string
	// SessionLife is how long a session is good for. Default 5 minutes.
	SessionLife time.Duration
	// PageSize is the most objects of one page of a listing. Default 1000.
	PageSize int
	// Lifecycle is the bucket's lifecycle configuration, as XML. Default: it has none.
	Lifecycle string
	// Skew is how far the server's clock is ahead.
	Skew time.Duration
	// Latency is how long each operation takes, by name.
	Latency map[string]time.Duration
	// Observe is told of every request that was answered, and when it came and was answered.
	Observe func(op string, came, answered time.Time)
	// Complain gets what is wrong with a request; testing.T.Errorf is one. Default: nobody.
	Complain func(format string, args ...any)
}

// Server is one bucket behind one endpoint. All methods are safe for concurrent use.
type Server struct {
	options Options
	http    *http.Server
	url     string
	closing context.Context
	close   context.CancelFunc

	mu       sync.Mutex
	objects  map[string]object
	sessions map[string]session // by token
	faults   []*Fault
	calls    map[string]int

	last        atomic.Uint64
	connections atomic.Int64
}

type object struct {
	content  []byte
	metadata http.Header
}

type session struct {
	credentials aws.Credentials
	expires     time.Time // by the server's clock
}

// Start serves on a loopback address until Close.
func Start(o Options) (*Server, error) {
	if o.Bucket == "" {
		o.Bucket = "walbridge--use1-az4--x-s3"
	}
	if o.SessionLife == 0 {
		o.SessionLife = 5 * time.Minute
	}
	if o.PageSize == 0 {
		o.PageSize = 1000
	}
	if o.Complain == nil {
		o.Complain = func(string, ...any) {}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("s3test: %w", err)
	}
	s := &Server{
		options: o, url: "http://" + l.Addr().String(),
		objects: make(map[string]object), sessions: make(map[string]session), calls: make(map[string]int),
	}
	s.closing, s.close = context.WithCancel(context.Background())
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute, ConnState: s.connected}
	go func() { _ = s.http.Serve(l) }() // ends with Close
	return s, nil
}

func (s *Server) connected(_ net.Conn, state http.ConnState) {
	if state == http.StateNew {
		s.connections.Add(1)
	}
}

// Close ends the server and every request that hangs.
func (s *Server) Close() {
	s.close()
	_ = s.http.Close()
}

// URL is the endpoint, and Bucket the bucket's name.
func (s *Server) URL() string    { return s.url }
func (s *Server) Bucket() string { return s.options.Bucket }

// Calls returns how many requests came for the operation, those that failed among them.
func (s *Server) Calls(op string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[op]
}

// Connections returns how many connections were ever made.
func (s *Server) Connections() int64 { return s.connections.Load() }

// Keys returns the keys of all objects.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := make([]string, 0, len(s.objects))
	for key := range s.objects {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// Object returns a copy of an object, and its metadata as headers.
func (s *Server) Object(key string) (content []byte, metadata http.Header, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.objects[key]
	return slices.Clone(o.content), o.metadata, ok
}

// Store puts an object there without asking for anything.
func (s *Server) Store(key string, content []byte, metadata http.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[key] = object{content, metadata}
}

// RevokeSessions makes every session invalid, as AWS may at any time.
func (s *Server) RevokeSessions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.sessions)
}

// now is the time by the server's clock.
func (s *Server) now() time.Time { return time.Now().Add(s.options.Skew) }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", s.now().UTC().Format(http.TimeFormat))
	w.Header().Set("X-Amz-Request-Id", fmt.Sprintf("%016d", s.last.Add(1)))
	q := s.parse(r)
	if came := time.Now(); s.options.Observe != nil {
		defer func() { s.options.Observe(q.op, came, time.Now()) }()
	}
	fault := s.begin(q.op)
	if !s.pass(w, r, q, fault) {
		return
	}
	if e := s.authenticate(r, q); e != nil {
		e.write(w, r)
		return
	}
	s.serve(w, r, q, fault)
}

// request is what a URL asks for.
type request struct{ op, key string }

func (s *Server) parse(r *http.Request) request {
	path, ok := strings.CutPrefix(r.URL.Path, "/"+s.options.Bucket)
	key := strings.TrimPrefix(path, "/")
	query := r.URL.Query()
	switch {
	case !ok || path != "" && path[0] != '/':
	case key == "" && r.Method == http.MethodGet && query.Has("session"):
		return request{op: CreateSession}
	case key == "" && r.Method == http.MethodGet && query.Has("lifecycle"):
		return request{op: GetLifecycle}
	case key == "" && r.Method == http.MethodHead:
		return request{op: HeadBucket}
	case key == "" && r.Method == http.MethodGet && query.Get("list-type") == "2":
		return request{op: ListObjects}
	case key == "" && r.Method == http.MethodPost && query.Has("delete"):
		return request{op: DeleteObjects}
	case key != "" && r.Method == http.MethodPut:
		return request{PutObject, key}
	case key != "" && r.Method == http.MethodGet:
		return request{GetObject, key}
	case key != "" && r.Method == http.MethodHead:
		return request{HeadObject, key}
	}
	return request{op: otherRequest, key: r.Method + " " + r.URL.String()}
}

// begin counts the request and takes the fault that waits for it.
func (s *Server) begin(op string) Kind {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[op]++
	for i, f := range s.faults {
		if f.Op != "" && f.Op != op {
			continue
		}
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				s.faults = slices.Delete(s.faults, i, i+1)
			}
		}
		return f.Kind
	}
	return None
}

// wait passes the operation's latency.
func (s *Server) wait(r *http.Request, op string) {
	if d := s.options.Latency[op]; d > 0 {
		select {
		case <-time.After(d):
		case <-r.Context().Done():
		case <-s.closing.Done():
		}
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, q request, fault Kind) {
	switch q.op {
	case CreateSession:
		s.wait(r, q.op)
		s.createSession(w)
	case HeadBucket:
		s.wait(r, q.op)
		w.Header().Set(regionHeader, Region)
	case GetLifecycle:
		s.lifecycle(w, r)
	case PutObject:
		s.put(w, r, q, fault)
	case GetObject, HeadObject:
		s.wait(r, q.op)
		s.get(w, r, q, fault)
	case ListObjects:
		s.wait(r, q.op)
		s.list(w, r)
	case DeleteObjects:
		s.wait(r, q.op)
		s.delete(w, r, fault)
	default:
		s.options.Complain("s3test: a request that a directory bucket does not know: %s", q.key)
		(&apiError{http.StatusNotImplemented, "NotImplemented", q.key}).write(w, r)
	}
}

// place is where a listing has a key: in an order that has nothing to do with the keys', and that stays when others go.
func place(key string) string {
	h := fnv.New64a()
	h.Write([]byte(key))
	return fmt.Sprintf("%016x", h.Sum64())
}
