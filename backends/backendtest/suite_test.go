package backendtest

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/mem"
)

func honest() backends.Bucket { return mem.New(mem.Options{Appends: 4, MaxAppend: 2 << 20}) }

// The suite sees each mutant: a store that breaks one obligation fails the checks that are named for it. And each check
// is there for a reason: some mutant fails it.
func TestMutants(t *testing.T) {
	caught := make(map[string]bool)
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			for _, name := range m.fails {
				c := find(t, name)
				caught[name] = true
				if failures := record(t, c, m.wrap(honest())); len(failures) == 0 {
					t.Errorf("passes the check %s", name)
				} else if testing.Verbose() {
					t.Logf("%s: %s", name, failures[0])
				}
			}
		})
	}
	for _, c := range checks {
		if !caught[c.name] {
			t.Errorf("no mutant fails the check %s", c.name)
		}
		if failures := record(t, c, honest()); len(failures) > 0 {
			t.Errorf("check %s of an honest store: %q", c.name, failures)
		}
	}
}

func find(t *testing.T, name string) check {
	for _, c := range checks {
		if c.name == name {
			return c
		}
	}
	t.Fatalf("no check %s", name)
	return check{}
}

// record runs one check and returns its failures instead of failing t.
func record(t *testing.T, c check, b backends.Bucket) []string {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() { // of its own, for Fatalf and Skipf end it
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				r.Errorf("panic: %v", p)
			}
		}()
		c.run(r, b)
	}()
	<-done
	return r.failures
}

// recorder is a testing.TB that keeps failures to itself.
type recorder struct {
	testing.TB

	mu       sync.Mutex
	failures []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skipf(string, ...any) { runtime.Goexit() }
