package server

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/walbridge/walbridge/backends/quorum"
	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
	"github.com/walbridge/walbridge/server/combine"
)

// slowZones answer when they are let.
type slowZones struct {
	Zones
	asked, answer chan struct{}
}

func (z slowZones) Status() quorum.Status {
	z.asked <- struct{}{}
	<-z.answer
	return quorum.Status{}
}

type idleCopier struct{ Copier }

func (idleCopier) Stats() combine.Stats { return combine.Stats{} }

// One connection runs so many requests of one message; another one is not concerned, and places come back.
func TestUnaryRequestsAreBoundedByConnection(t *testing.T) {
	zones := slowZones{asked: make(chan struct{}, 100), answer: make(chan struct{})}
	s := New(Options{
		Copier: idleCopier{}, Zones: zones, PoolStatus: func() *walbridgev1.PoolStatus { return nil },
		Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
	g, _ := s.GRPC()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = g.Serve(l) }()
	defer g.Stop()
	dial := func() walbridgev1.WalServiceClient {
		conn, err := grpc.NewClient("unix:"+l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return walbridgev1.NewWalServiceClient(conn)
	}
	greedy, other := dial(), dial()
	ask := func(c walbridgev1.WalServiceClient) error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := c.GetStatus(ctx, &walbridgev1.GetStatusRequest{})
		return err
	}
	var all sync.WaitGroup
	begin := func(c walbridgev1.WalServiceClient) {
		all.Go(func() {
			if err := ask(c); err != nil {
				t.Error(err)
			}
		})
		<-zones.asked
	}
	for range maxUnary {
		begin(greedy)
	}
	if err := ask(greedy); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("one more than %d: %v", maxUnary, err)
	}
	begin(other)
	close(zones.answer)
	all.Wait()
	for ask(greedy) != nil { // The places come back soon after the answers.
		if t.Context().Err() != nil {
			t.Fatal("no place came back")
		}
	}
}
