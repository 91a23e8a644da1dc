package peer

import (
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Options say how a Listener admits connections. All are required.
type Options struct {
	Allow Allow
	// Max is how many connections there may be; one peer has at most half of them.
	Max        int
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Listener accepts the connections that are admitted and closes the others without a word. It is safe for concurrent use.
type Listener struct {
	net.Listener
	opts    Options
	self    uint32
	allow   atomic.Pointer[Allow]
	refused *prometheus.CounterVec

	mu      sync.Mutex
	total   int
	of      map[string]int
	logged  time.Time
	skipped int
}

// Listen returns l with its connections admitted as opts say.
func Listen(l net.Listener, opts Options) *Listener {
	p := &Listener{Listener: l, opts: opts, self: uint32(os.Getuid()), of: map[string]int{}}
	p.SetAllow(opts.Allow)
	p.refused = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "walbridge_server_connections_refused_total", Help: "Connections closed at once: not allowed, or too many.",
	}, []string{"reason"})
	opts.Registerer.MustRegister(p.refused, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "walbridge_server_connections", Help: "Connections of clients.",
	}, func() float64 {
		p.mu.Lock()
		defer p.mu.Unlock()
		return float64(p.total)
	}))
	return p
}

// SetAllow changes who may connect from now on.
func (l *Listener) SetAllow(a Allow) { l.allow.Store(&a) }

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		p, reason := l.admit(c)
		if reason == "" {
			return &conn{Conn: c, release: sync.OnceFunc(func() { l.release(p.Name) })}, nil
		}
		l.refuse(p, reason)
		_ = c.Close() // There is nobody to tell.
	}
}

// admit counts the connection in, or says why not.
func (l *Listener) admit(c net.Conn) (p Peer, reason string) {
	p, err := of(c)
	if err != nil {
		return p, "unknown"
	}
	if !l.allow.Load().permits(p, l.self) {
		return p, "not_allowed"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.total >= l.opts.Max:
		return p, "too_many"
	case l.of[p.Name] >= l.opts.Max/2:
		return p, "too_many_of_peer"
	}
	l.total++
	l.of[p.Name]++
	return p, ""
}

func (l *Listener) release(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	if l.of[name]--; l.of[name] == 0 {
		delete(l.of, name)
	}
}

// refuse counts and logs, at most one line a second: who floods the socket must not flood the log.
func (l *Listener) refuse(p Peer, reason string) {
	l.refused.WithLabelValues(reason).Inc()
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.logged) < time.Second {
		l.skipped++
		return
	}
	l.opts.Logger.Warn("connection refused", "peer", p.Name, "gid", p.GID, "pid", p.PID, "reason", reason,
		"not_logged", l.skipped)
	l.logged, l.skipped = time.Now(), 0
}

// conn gives its place back when it is closed.
type conn struct {
	net.Conn
	release func()
}

func (c *conn) Close() error {
	c.release()
	return c.Conn.Close()
}
