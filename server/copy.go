package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/logging"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/peer"

	"github.com/walbridge/walbridge/backends"
	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
	"github.com/walbridge/walbridge/server/frame"
	"github.com/walbridge/walbridge/server/source"
)

type copyStream = grpc.ClientStreamingServer[walbridgev1.CopyLogSegmentDataRequest, walbridgev1.CopyLogSegmentDataResponse]

// CopyLogSegmentData answers when a quorum holds the copy durably.
func (s *Service) CopyLogSegmentData(stream copyStream) error {
	ctx, cancel := s.beforeCaller(stream.Context())
	defer cancel()
	ctx, evict := context.WithCancelCause(ctx)
	defer evict(nil)
	response, err := s.copy(ctx, stream, evict)
	if err != nil {
		s.copiesFailed.Add(1)
		return toStatus(err)
	}
	return stream.SendAndClose(response)
}

// beforeCaller returns a context that ends at the copy's timeout and a little before the caller's deadline: only then
// does the caller learn why, such as which zone it was.
func (s *Service) beforeCaller(ctx context.Context) (context.Context, context.CancelFunc) {
	left := s.opts.CopyTimeout
	if deadline, ok := ctx.Deadline(); ok {
		const most = 500 * time.Millisecond
		callers := time.Until(deadline)
		left = min(left, callers-min(callers/10, most))
	}
	return context.WithTimeout(ctx, left)
}

func (s *Service) copy(ctx context.Context, stream copyStream, evict func(error)) (*walbridgev1.CopyLogSegmentDataResponse, error) {
	in := make(chan received, 1)
	// Recv knows no deadline but the client's, so that it has a goroutine of its own. It ends with the stream, at the
	// latest when this method returns, and gives back what it reserved if nobody takes it.
	go func() { in <- s.receive(stream, evict) }()
	var r received
	select {
	case r = <-in:
	case <-ctx.Done():
		go func() { s.inflight.release((<-in).reserved) }()
		return nil, fmt.Errorf("receive copy: %w", context.Cause(ctx))
	}
	defer s.inflight.release(r.reserved)
	if r.err != nil {
		return nil, r.err
	}
	s.inflight.arrive(r.reserved)
	result, err := s.opts.Copier.Copy(ctx, r.sections, r.waited)
	if err != nil {
		return nil, err
	}
	// The frame has a copy of the bytes. After a failure a lane may still read them: then they are the garbage collector's.
	r.chunks.Free()
	extent, err := result.Extent.AppendBinary(nil)
	if err != nil {
		return nil, err
	}
	s.trace(ctx, result.Extent, len(r.sections))
	response := &walbridgev1.CopyLogSegmentDataResponse{CombinedSegmentId: r.id, Extent: extent}
	for _, l := range result.Entries {
		response.Entries = append(response.Entries, &walbridgev1.EntryLocation{Position: l.Position, Length: l.Length})
	}
	return response, nil
}

// trace puts where the copy lies into its span and into its line of the debug log.
func (s *Service) trace(ctx context.Context, x frame.Extent, entries int) {
	span := trace.SpanFromContext(ctx)
	debug := s.opts.Logger.Enabled(ctx, slog.LevelDebug)
	if !span.IsRecording() && !debug {
		return
	}
	object := x.Object.Name(s.opts.Identity.ClusterID)
	span.SetAttributes(attribute.String("walbridge.object", object), attribute.Int64("walbridge.position", x.Position),
		attribute.Int("walbridge.entries", entries))
	if debug {
		logging.AddFields(ctx, logging.Fields{"object", object, "position", x.Position, "entries", entries})
	}
}

// received is one copy as it came in, or why it did not; reserved is to be released either way.
type received struct {
	id       []byte
	sections []frame.Section
	waited   time.Duration   // at the broker
	chunks   mem.BufferSlice // what the sections' bytes are in
	reserved *reservation
	err      error
}

func (s *Service) receive(stream copyStream, evict func(error)) (r received) {
	w, err := receiveNext(stream)
	if err != nil {
		r.err = err
		return r
	}
	first, err := w.message()
	if err != nil {
		r.err = err
		return r
	}
	header := first.GetHeader()
	size, err := s.checkHeader(header)
	if err != nil {
		r.err = err
		return r
	}
	r.reserved = s.inflight.reserve(connectionOf(stream.Context()), size, evict)
	if r.reserved == nil {
		r.err = fmt.Errorf("%w: %d of %d bytes in use, the copy has %d", errFull, s.inflight.used(), s.inflight.max, size)
		return r
	}
	r.id = header.GetCombinedSegmentId()
	r.waited = time.Duration(header.GetWaitedMs()) * time.Millisecond
	sections, err := s.sections(stream.Context(), header)
	if err != nil {
		r.err = err
		return r
	}
	a := newAssembler(sections)
	for {
		w, err := receiveNext(stream)
		if err != nil {
			r.err = err
			return r
		}
		if pieces, ok := w.chunk(); ok {
			r.chunks = append(r.chunks, w.data...)
			for _, p := range pieces {
				if r.err = a.add(p); r.err != nil {
					return r
				}
			}
			continue
		}
		m, err := w.message()
		if err != nil {
			r.err = err
			return r
		}
		if m.GetTrailer() == nil {
			r.err = fmt.Errorf("%w: expected a chunk or the trailer", errInvalid)
			return r
		}
		r.sections, r.err = a.finish(m.GetTrailer().GetCrc32C())
		return r
	}
}

// sections returns the copy's sections, with the bytes of those that the daemon reads from the broker's files itself.
func (s *Service) sections(ctx context.Context, h *walbridgev1.CopyHeader) ([]frame.Section, error) {
	sections := make([]frame.Section, len(h.GetEntries()))
	for i, e := range h.GetEntries() {
		sections[i].Entry = e
	}
	for i, from := range h.GetSources() {
		if from.GetPath() == "" {
			continue
		}
		if !onThisHost(ctx) {
			return nil, fmt.Errorf("%w: the client is not on a unix socket", source.ErrSource)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		bytes, err := source.Read(from.GetPath(), from.GetPosition(), sections[i].Entry)
		if err != nil {
			return nil, err
		}
		s.sourceBytes.Add(float64(len(bytes)))
		sections[i].Chunks = [][]byte{bytes}
		sections[i].Entry.Crc32C = backends.Checksum(bytes)
	}
	return sections, nil
}

// onThisHost tells whether the client and the daemon see the same files.
func onThisHost(ctx context.Context) bool {
	p, ok := peer.FromContext(ctx)
	return ok && p.Addr.Network() == "unix"
}

// receiveNext returns the next request.
func receiveNext(stream copyStream) (*wire, error) {
	var w wire
	if err := stream.RecvMsg(&w); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%w: the stream ended before its trailer", errInvalid)
		}
		return nil, err
	}
	return &w, nil
}

// checkHeader returns the length of the copy's bytes.
func (s *Service) checkHeader(h *walbridgev1.CopyHeader) (size int64, err error) {
	switch {
	case h == nil:
		return 0, fmt.Errorf("%w: a copy starts with a header", errInvalid)
	case h.GetClusterId() != s.opts.Identity.ClusterID || h.GetBrokerId() != s.opts.Identity.BrokerID:
		return 0, fmt.Errorf("%w: copy from broker %d of cluster %q, this daemon serves broker %d of cluster %q", errIdentity,
			h.GetBrokerId(), h.GetClusterId(), s.opts.Identity.BrokerID, s.opts.Identity.ClusterID)
	case len(h.GetCombinedSegmentId()) != 16:
		return 0, fmt.Errorf("%w: combined_segment_id has %d bytes, not 16", errInvalid, len(h.GetCombinedSegmentId()))
	case len(h.GetEntries()) == 0:
		return 0, fmt.Errorf("%w: a copy has at least one entry", errInvalid)
	case len(h.GetSources()) != 0 && len(h.GetSources()) != len(h.GetEntries()):
		return 0, fmt.Errorf("%w: %d sources for %d entries", errInvalid, len(h.GetSources()), len(h.GetEntries()))
	}
	for i, e := range h.GetEntries() {
		if err := frame.Validate(e); err != nil {
			return 0, fmt.Errorf("%w: entry %d: %w", errInvalid, i, err)
		}
		size += int64(e.GetLength())
	}
	if size > s.opts.MaxCopyBytes {
		return 0, fmt.Errorf("%w: the copy has %d bytes, at most %d are taken", errInvalid, size, s.opts.MaxCopyBytes)
	}
	return size, nil
}
