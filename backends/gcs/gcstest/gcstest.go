// Package gcstest is a fake of Google Cloud Storage that the real SDK talks to: the part of google.storage.v2.Storage
// that package gcs uses, with zonal (Rapid) and regional buckets in memory.
//
// It holds clients to the protocol: a wrong offset, a wrong checksum, an append to a finalized object, an appendable
// object in a regional bucket or any other in a zonal one, a stream that was redirected and comes back without its
// routing token, all fail. What nobody outside knows of the real service is an option here, and by default the harsher
// of the answers. Faults are injected one operation at a time, see Server.Inject.
package gcstest

import (
	"cmp"
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
)

// Options shape a Server.
type Options struct {
	// Zonal and Regional are the names of the buckets there are.
	Zonal, Regional []string
	// Latency is how long things take.
	Latency Latency
	// MaxStreams is how many streams one connection has at a time; more wait in the client. Default 100, as the real
	// service is said to have.
	MaxStreams uint32
	// FencedCode ends the stream of a writer whose object another one took over. Default Aborted.
	FencedCode codes.Code
	// KeepUnfinalized refuses to delete an object that is not finalized.
	KeepUnfinalized bool
	// Discard keeps the length of what is written and not the bytes, for measurements: reads return zeros.
	Discard bool
}

// Latency is how long the service takes, apart from the work it really does.
type Latency struct {
	Create, Append, Finalize, Close, Read time.Duration
	// PerMiB is added to an append for each MiB of it.
	PerMiB time.Duration
}

// Server is the fake. All methods are safe for concurrent use.
type Server struct {
	opts    Options
	grpc    *grpc.Server
	address string

	mu         sync.Mutex
	buckets    map[string]*bucket
	generation int64
	faults     map[Op][]Fault
	routes     map[string]string // by object: the routing token that its redirected client has to come back with
	streams    map[*writeStream]struct{}
	counts     map[Op]int
}

// New returns a Server that answers when Serve is called.
func New(o Options) *Server {
	o.MaxStreams = cmp.Or(o.MaxStreams, 100)
	o.FencedCode = cmp.Or(o.FencedCode, codes.Aborted)
	s := &Server{
		opts:    o,
		grpc:    grpc.NewServer(grpc.MaxConcurrentStreams(o.MaxStreams)),
		buckets: map[string]*bucket{},
		faults:  map[Op][]Fault{},
		routes:  map[string]string{},
		streams: map[*writeStream]struct{}{},
		counts:  map[Op]int{},
	}
	for _, name := range o.Zonal {
		s.buckets[name] = &bucket{name: name, zonal: true, objects: map[string]*object{}}
	}
	for _, name := range o.Regional {
		s.buckets[name] = &bucket{name: name, objects: map[string]*object{}}
	}
	s.grpc.RegisterService(&service, s)
	return s
}

// Start is New and Serve, on a free port.
func Start(o Options) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := New(o)
	s.address = l.Addr().String()
	go func() { _ = s.Serve(l) }() // It ends with Stop.
	return s, nil
}

// Serve answers until Stop.
func (s *Server) Serve(l net.Listener) error {
	if err := s.grpc.Serve(l); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return err
	}
	return nil
}

// Stop ends all connections. What is stored is lost.
func (s *Server) Stop() { s.grpc.Stop() }

// ClientOptions have a client of the SDK talk to a Server that was started with Start.
func (s *Server) ClientOptions() []option.ClientOption { return ClientOptions(s.address) }

// ClientOptions have a client of the SDK talk to the Server at address.
func ClientOptions(address string) []option.ClientOption {
	return []option.ClientOption{
		option.WithEndpoint(address),
		option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())),
	}
}

// Count returns how many operations took effect.
func (s *Server) Count(op Op) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[op]
}

// pause takes d, or less where ctx ends.
func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
