package gcstest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"

	spb "google.golang.org/genproto/googleapis/rpc/status"
)

// Op is a kind of operation.
type Op int

// The operations that faults befall.
const (
	Create   Op = iota // the first message of a new object
	Append             // a flush of data
	Finalize           // the message that finalizes an object, also that of an object written whole
	Read               // the opening of a read
	List               // one page
	Delete             // of one object
	Get                // metadata of an object or a bucket
)

// Fault is how one operation fails. The zero value ends a stream early but cleanly, and nothing takes effect; a call
// without a stream then succeeds all the same.
type Fault struct {
	// Applied has the operation take effect first: only its answer is lost.
	Applied bool
	// Silent answers nothing, until the client gives up.
	Silent bool
	// Redirect sends the client elsewhere, with a routing token that it has to come back with.
	Redirect bool
	// Code is the status of the stream or call.
	Code codes.Code
}

// Inject has the next operations of a kind fail, one each, in the order given.
func (s *Server) Inject(op Op, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[op] = append(s.faults[op], faults...)
}

// BreakStreams ends all write streams that are open, as a server does that goes away: with a code, or cleanly.
func (s *Server) BreakStreams(code codes.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := errEnd
	if code != codes.OK {
		err = status.Error(code, "injected: stream broken")
	}
	for w := range s.streams {
		w.end(err)
	}
}

// Lose takes a bucket away, as the loss of its zone does: from now on there is no answer but UNAVAILABLE.
func (s *Server) Lose(bucket string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buckets[bucket].lost = true
	for w := range s.streams {
		if w.bucket != nil && w.bucket.name == bucket {
			w.end(errLost)
		}
	}
}

var errLost = status.Error(codes.Unavailable, "injected: the bucket's zone is lost")

// around does an operation on the object name, with the fault that is due. do is called with mu held.
func (s *Server) around(ctx context.Context, op Op, name string, do func() error) error {
	s.mu.Lock()
	fault, due := Fault{Applied: true}, false
	if queue := s.faults[op]; len(queue) > 0 {
		fault, due = queue[0], true
		s.faults[op] = queue[1:]
	}
	var err error
	if fault.Applied {
		if err = do(); err == nil {
			s.counts[op]++
		}
	}
	s.mu.Unlock()
	switch {
	case err != nil || !due:
		return err
	case fault.Silent:
		<-ctx.Done()
		return ctx.Err()
	case fault.Redirect:
		return s.redirect(op, name)
	case fault.Code == codes.OK:
		return errEnd
	}
	return status.Error(fault.Code, "injected")
}

// errEnd ends a stream cleanly.
var errEnd = errors.New("injected: end")

// redirect has the client of name come back with a token.
func (s *Server) redirect(op Op, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.generation++
	token := fmt.Sprintf("route-%d", s.generation)
	s.routes[name] = token
	kind := "BidiWriteObjectRedirectedError"
	if op == Read {
		kind = "BidiReadObjectRedirectedError"
	}
	detail, err := anypb.New(newMessage(kind).set("routing_token", token).Interface())
	if err != nil {
		return err
	}
	return status.FromProto(&spb.Status{
		Code: int32(codes.Aborted), Message: "injected: redirected", Details: []*anypb.Any{detail},
	}).Err()
}

// arrive fails where the client of name was redirected and comes back without its token.
func (s *Server) arrive(ctx context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := s.routes[name]
	if token == "" {
		return nil
	}
	in, _ := metadata.FromIncomingContext(ctx)
	for _, params := range in.Get("x-goog-request-params") {
		for param := range strings.SplitSeq(params, "&") {
			if param == "routing_token="+token {
				delete(s.routes, name)
				return nil
			}
		}
	}
	return status.Errorf(codes.InvalidArgument, "object %q: redirected, and back without its routing token", name)
}
