package s3test

import (
	"fmt"
	"io"
	"net"
	"net/http"
)

// Kind is one way to fail.
type Kind int

// The ways to fail. Unless something else is said, nothing is stored or deleted.
const (
	None Kind = iota

	SlowDown      // 503 SlowDown
	Internal      // 500 InternalError
	BadGateway    // 502 with a body that is not S3's
	Conflict      // 409 ConditionalRequestConflict
	Aborted       // 409 OperationAborted
	SlowBody      // 400 RequestTimeout
	Denied        // 403 AccessDenied
	Moved         // 301 PermanentRedirect: the bucket is in another region
	SessionEnds   // 400 ExpiredToken, and every session is invalid from then on
	Reset         // the connection is reset when half of the body has been read
	Hang          // no answer until the caller leaves
	Lost          // the request is carried out, and the connection reset instead of an answer
	LostThenHang  // the request is carried out, and there is no answer until the caller leaves
	SentTwice     // the request is carried out twice, as by a proxy; the second answer is the one that comes
	Careless      // PutObject: neither the condition nor the checksum counts
	Truncated     // the answer's body ends with a reset in the middle
	Flipped       // the answer's body has one wrong bit
	WrongRange    // the answer is of a range that begins a byte later
	NoRange       // the answer is all of the object
	Some          // DeleteObjects: every other key fails with SlowDown
	SomeDenied    // DeleteObjects: every other key fails with AccessDenied
	SomeForgotten // DeleteObjects: every other key is left alone and left out
)

// Fault fails the next requests of an operation, or of any.
type Fault struct {
	Op   string // "" is any
	Kind Kind
	// Times is how many requests fail; negative: all, until Heal.
	Times int
}

// Inject adds faults. Those that were injected first come first.
func (s *Server) Inject(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range faults {
		s.faults = append(s.faults, &f)
	}
}

// Heal takes away the faults that are left and returns how many.
func (s *Server) Heal() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.faults)
	s.faults = nil
	return n
}

var answers = map[Kind]apiError{
	SlowDown: {http.StatusServiceUnavailable, "SlowDown", "Please reduce your request rate."},
	Internal: {http.StatusInternalServerError, "InternalError", "We encountered an internal error."},
	Conflict: {http.StatusConflict, "ConditionalRequestConflict", "The conditional request cannot succeed now."},
	Aborted:  {http.StatusConflict, "OperationAborted", "A conflicting operation is in progress."},
	SlowBody: {http.StatusBadRequest, "RequestTimeout", "Your socket connection was not read from."},
	Denied:   {http.StatusForbidden, "AccessDenied", "Access Denied"},
	Moved:    {http.StatusMovedPermanently, "PermanentRedirect", "The bucket is in another region."},
}

// pass fails the request where its fault is not one of carrying it out, and tells whether it goes on.
func (s *Server) pass(w http.ResponseWriter, r *http.Request, q request, fault Kind) bool {
	if a, ok := answers[fault]; ok {
		_, _ = io.Copy(io.Discard, r.Body)
		s.wait(r, q.op)
		if fault == Moved {
			w.Header().Set(regionHeader, OtherRegion)
		}
		a.write(w, r)
		return false
	}
	switch fault {
	case BadGateway:
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprint(w, "<html>no S3 here</html>")
	case SessionEnds:
		_, _ = io.Copy(io.Discard, r.Body)
		s.RevokeSessions()
		(&apiError{http.StatusBadRequest, "ExpiredToken", "The provided token has expired."}).write(w, r)
	case Reset:
		_, _ = io.CopyN(io.Discard, r.Body, r.ContentLength/2)
		reset(w)
	case Hang:
		_, _ = io.Copy(io.Discard, r.Body)
		s.hang(r)
		reset(w)
	default:
		return true
	}
	return false
}

// answer sends what a request came to, or what its fault makes of it.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, fault Kind, send func()) {
	switch fault {
	case Lost:
		reset(w)
	case LostThenHang:
		s.hang(r)
		reset(w)
	default:
		send()
	}
}

func (s *Server) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.closing.Done():
	}
}

// reset ends the connection as a crash does, without a closing handshake.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
