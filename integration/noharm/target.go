package noharm

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// target is the socket that the agent knows as its daemon. What listens there changes from case to case. Its methods
// are for one goroutine.
type target struct {
	path string
	stop func()
}

// server serves what is accepted until the listener is closed.
type server func(net.Listener)

func newTarget(path string) *target { return &target{path: path, stop: func() {}} }

// URL is the target in gRPC's spelling.
func (t *target) URL() string { return "unix://" + t.path }

// Down has nobody listen, and cuts every connection.
func (t *target) Down() {
	t.stop()
	t.stop = func() {}
}

// Serve cuts every connection and has s serve those to come.
func (t *target) Serve(s server) error {
	t.Down()
	if err := os.Remove(t.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("target: %w", err)
	}
	l, err := net.Listen("unix", t.path)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	tracked := &tracker{Listener: l, conns: map[net.Conn]bool{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s(tracked)
	}()
	t.stop = func() {
		tracked.cut()
		<-done
	}
	return nil
}

// tracker is a listener that can cut what it has accepted.
type tracker struct {
	net.Listener
	mu    sync.Mutex
	conns map[net.Conn]bool
	gone  bool
}

func (t *tracker) Accept() (net.Conn, error) {
	c, err := t.Listener.Accept()
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		c.Close()
		return nil, net.ErrClosed
	}
	t.conns[c] = true
	return c, nil
}

func (t *tracker) cut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gone = true
	t.Listener.Close()
	for c := range t.conns {
		c.Close()
	}
}

// each serves every connection in a goroutine of its own and returns when all have ended.
func each(serve func(net.Conn)) server {
	return func(l net.Listener) {
		var conns sync.WaitGroup
		defer conns.Wait()
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { serve(c) })
		}
	}
}

// relay passes everything on to the socket at path; each piece of an answer comes so much later.
func relay(path string, delay time.Duration) server {
	return each(func(c net.Conn) {
		defer c.Close()
		daemon, err := net.Dial("unix", path)
		if err != nil {
			return // As a daemon that is down.
		}
		defer daemon.Close()
		go func() {
			_, _ = io.Copy(daemon, c)
			daemon.Close()
		}()
		_, _ = io.Copy(&slow{c, delay}, daemon)
	})
}

// slow is a writer that waits before each write.
type slow struct {
	io.Writer
	delay time.Duration
}

func (s *slow) Write(p []byte) (int, error) {
	time.Sleep(s.delay)
	return s.Writer.Write(p)
}

// mute takes everything and never says anything.
func mute() server {
	return each(func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
}

// noise says what no server says.
func noise() server {
	return each(func(c net.Conn) {
		_, _ = io.CopyN(c, rand.Reader, 4096)
		_, _ = io.Copy(io.Discard, c)
	})
}
