package noharm

import (
	"crypto/rand"
	"errors"
	"io"
	"net"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

type copyStream = grpc.ClientStreamingServer[walbridgev1.CopyLogSegmentDataRequest,
	walbridgev1.CopyLogSegmentDataResponse]

// wrong is a daemon that answers copies as it must not; everything else it does not know.
type wrong struct {
	walbridgev1.UnimplementedWalServiceServer
	copy func(copyStream) error
}

func (w *wrong) CopyLogSegmentData(s copyStream) error { return w.copy(s) }

// answering serves gRPC with a wrong daemon.
func answering(copy func(copyStream) error) server { return grpcServer(&wrong{copy: copy}) }

// unimplemented is a daemon of a time before there were copies.
func unimplemented() server { return grpcServer(walbridgev1.UnimplementedWalServiceServer{}) }

func grpcServer(s walbridgev1.WalServiceServer) server {
	return func(l net.Listener) {
		g := grpc.NewServer()
		walbridgev1.RegisterWalServiceServer(g, s)
		_ = g.Serve(l) // It ends with the listener.
		g.Stop()
	}
}

// hung takes a copy and never answers.
func hung(s copyStream) error {
	<-s.Context().Done()
	return s.Context().Err()
}

// full refuses every copy.
func full(copyStream) error {
	st, err := status.New(codes.ResourceExhausted, "no room").
		WithDetails(&errdetails.ErrorInfo{Domain: "walbridge", Reason: "FULL"})
	if err != nil {
		return err
	}
	return st.Err()
}

// empty says of every copy that it is stored, and nothing more.
func empty(s copyStream) error {
	if _, err := received(s); err != nil {
		return err
	}
	return s.SendAndClose(&walbridgev1.CopyLogSegmentDataResponse{})
}

// rubbish says of every copy that it is stored, in places that do not fit and an extent that is noise.
func rubbish(s copyStream) error {
	header, err := received(s)
	if err != nil {
		return err
	}
	noise := make([]byte, 1<<20)
	rand.Read(noise)
	answer := &walbridgev1.CopyLogSegmentDataResponse{CombinedSegmentId: header.GetCombinedSegmentId(), Extent: noise}
	for i := range header.GetEntries() {
		answer.Entries = append(answer.Entries, &walbridgev1.EntryLocation{Position: uint32(i) << 30, Length: 1})
	}
	return s.SendAndClose(answer)
}

// received takes a whole copy and returns its header.
func received(s copyStream) (header *walbridgev1.CopyHeader, err error) {
	for {
		m, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return header, nil
		}
		if err != nil {
			return nil, err
		}
		if h := m.GetHeader(); h != nil {
			header = h
		}
	}
}
