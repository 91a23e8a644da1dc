package quorum

import (
	"context"
	"sync"
)

// group counts goroutines, like a sync.WaitGroup that can be waited for with a deadline. The zero value is ready.
type group struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n falls to 0
}

// run runs f in a goroutine.
func (g *group) run(f func()) {
	g.mu.Lock()
	if g.n == 0 {
		g.idle = make(chan struct{})
	}
	g.n++
	g.mu.Unlock()
	go func() {
		defer g.done()
		f()
	}()
}

func (g *group) done() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.n--; g.n == 0 {
		close(g.idle)
	}
}

// wait waits until no goroutine runs or ctx ends, and returns how many run.
func (g *group) wait(ctx context.Context) int {
	g.mu.Lock()
	n, idle := g.n, g.idle
	g.mu.Unlock()
	if n == 0 {
		return 0
	}
	select {
	case <-idle:
		return 0
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.n
}
