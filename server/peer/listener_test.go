package peer

import (
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func TestPermits(t *testing.T) {
	kafka := Peer{UID: 1000, GID: 200, Local: true}
	for _, tc := range []struct {
		name  string
		allow Allow
		peer  Peer
		want  bool
	}{
		{"no lists", Allow{}, kafka, true},
		{"its user", Allow{UIDs: []uint32{7, 1000}}, kafka, true},
		{"its group", Allow{UIDs: []uint32{7}, GIDs: []uint32{200}}, kafka, true},
		{"neither", Allow{UIDs: []uint32{200}, GIDs: []uint32{1000}}, kafka, false},
		{"root", Allow{UIDs: []uint32{7}}, Peer{UID: 0, Local: true}, true},
		{"the daemon's user", Allow{UIDs: []uint32{7}}, Peer{UID: 50, Local: true}, true},
		{"over TCP, where certificates decide", Allow{UIDs: []uint32{7}}, Peer{Name: "10.0.0.1"}, true},
	} {
		if got := tc.allow.permits(tc.peer, 50); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

type logBuffer struct {
	mu sync.Mutex
	strings.Builder
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Builder.Write(p)
}

func (b *logBuffer) lines() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Count(b.String(), "connection refused")
}

func listen(t *testing.T, opts Options) (l *Listener, dial func() net.Conn) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	inner, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	opts.Registerer = prometheus.NewRegistry()
	l = Listen(inner, opts)
	t.Cleanup(func() { l.Close() })
	return l, func() net.Conn {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
}

// closed waits until the other end closed c.
func closed(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("read: %v, want a closed connection", err)
	}
}

// A flood of one peer is turned away, and one line tells of it; a place that is given back is given again.
func TestFlood(t *testing.T) {
	var log logBuffer
	l, dial := listen(t, Options{Max: 4, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	accepted := make(chan net.Conn)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- c
		}
	}()
	dial()
	first := <-accepted
	dial()
	<-accepted
	for range 50 {
		closed(t, dial())
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(l.refused)
	families, err := registry.Gather()
	if err != nil || families[0].GetMetric()[0].GetCounter().GetValue() != 50 {
		t.Errorf("refused %v, %v; want 50", families, err)
	}
	if n := log.lines(); n < 1 || n > 10 {
		t.Errorf("%d log lines for 50 refusals within a second", n)
	}
	first.Close()
	first.Close() // Twice gives one place back.
	dial()
	<-accepted
	closed(t, dial())
}

// The kernel says who the peer is.
func TestPeerIsThisProcess(t *testing.T) {
	l, dial := listen(t, Options{Max: 4, Logger: slog.New(slog.DiscardHandler)})
	dial()
	c, err := l.Listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p, err := of(c)
	if err != nil || p.PID != int32(os.Getpid()) || p.UID != uint32(os.Getuid()) || !p.Local {
		t.Errorf("peer %+v, %v", p, err)
	}
}
