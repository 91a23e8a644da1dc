package server

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/grpc"

	"github.com/walbridge/walbridge/backends"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
	"github.com/walbridge/walbridge/server/frame"
)

type listStream = grpc.ServerStreamingServer[walbridgev1.ListCombinedSegmentsResponse]

// ListCombinedSegments reads header and index of every frame that the zones hold. One listing runs at a time: it is
// for operators and recovery, and must not take the zones from the copies.
func (s *Service) ListCombinedSegments(r *walbridgev1.ListCombinedSegmentsRequest, stream listStream) error {
	ctx := stream.Context()
	select {
	case s.listing <- struct{}{}:
		defer func() { <-s.listing }()
	case <-ctx.Done():
		return toStatus(ctx.Err())
	}
	dir := s.opts.Identity.ClusterID
	if r.BrokerId != nil {
		dir = frame.Dir(s.opts.Identity.ClusterID, r.GetBrokerId())
	}
	for object, err := range s.opts.Bucket.List(ctx, dir) {
		if err != nil {
			return toStatus(fmt.Errorf("list %s: %w", dir, err))
		}
		_, id, err := frame.ParseName(object.Name)
		if err != nil {
			continue // A claim, or nothing of ours.
		}
		if err := s.listObject(object.Name, id, r.GetTopic(), stream); err != nil {
			return toStatus(err)
		}
	}
	return nil
}

func (s *Service) listObject(name string, id frame.ObjectID, topic string, stream listStream) error {
	read := func(p []byte, off int64, valid func([]byte) error) error {
		return s.opts.Zones.ReadValid(stream.Context(), name, p, off, valid)
	}
	for f, err := range frame.Scan(name, read, frame.IndexOnly) {
		switch {
		case errors.Is(err, backends.ErrNotFound):
			return nil // Deleted since the zone listed it.
		case errors.Is(err, backends.ErrChecksum):
			return stream.Send(&walbridgev1.ListCombinedSegmentsResponse{Object: name, Problem: err.Error()})
		case err != nil:
			return fmt.Errorf("read %s: %w", name, err)
		}
		ofTopic := func(e *framev1.Entry) bool { return e.GetTopic() == topic }
		if topic != "" && !slices.ContainsFunc(f.Index.GetEntries(), ofTopic) {
			continue
		}
		extent, err := f.Extent(id, f.Position).AppendBinary(nil)
		if err != nil {
			return err
		}
		response := &walbridgev1.ListCombinedSegmentsResponse{Object: name, Extent: extent, Index: f.Index}
		if err := stream.Send(response); err != nil {
			return err
		}
	}
	return nil
}
