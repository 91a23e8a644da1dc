package server

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

// GetStatus answers from memory: it asks no zone.
func (s *Service) GetStatus(context.Context, *walbridgev1.GetStatusRequest) (*walbridgev1.GetStatusResponse, error) {
	zones, lanes := s.opts.Zones.Status(), s.opts.Copier.Stats()
	r := &walbridgev1.GetStatusResponse{
		Version:               s.opts.Version,
		ClusterId:             s.opts.Identity.ClusterID,
		BrokerId:              s.opts.Identity.BrokerID,
		Incarnation:           s.opts.Identity.Incarnation,
		Started:               timestamppb.New(s.started),
		Uptime:                durationpb.New(time.Since(s.started)),
		Healthy:               true,
		Quorum:                uint32(zones.Quorum),
		InflightBytes:         uint64(s.inflight.used()),
		MaxInflightBytes:      uint64(s.inflight.max),
		FramesWritten:         lanes.Frames,
		BytesWritten:          lanes.Bytes,
		CopiesFailed:          s.copiesFailed.Load(),
		FramesUnderReplicated: zones.UnderReplicated,
		Pool:                  s.opts.PoolStatus(),
		Lanes: &walbridgev1.LaneStatus{
			Lanes: uint32(lanes.Lanes), Busy: uint32(lanes.Busy), Queued: uint32(lanes.Queued),
		},
	}
	for _, z := range zones.Zones {
		zone := &walbridgev1.ZoneStatus{Name: z.Name, Url: s.opts.URLs[z.Name], State: walbridgev1.ZoneState_ZONE_STATE_HEALTHY}
		if z.Down {
			zone.State, r.Healthy = walbridgev1.ZoneState_ZONE_STATE_DOWN, false
		}
		if z.LastError != nil {
			zone.LastError, zone.LastErrorTime = z.LastError.Error(), timestamppb.New(z.LastErrorTime)
		}
		r.Zones = append(r.Zones, zone)
	}
	return r, nil
}
