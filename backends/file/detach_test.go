package file

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var errLate = errors.New("late")

// A call that outlasts its ctx is left behind with its slot; what it comes back with is dropped.
func TestDetachLate(t *testing.T) {
	for _, late := range []error{nil, errLate} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			s := make(slots, 1)
			var dropped []int
			start := time.Now()
			call := func() (int, error) { time.Sleep(time.Minute); return 7, late }
			v, err := detach(ctx, s, call, func(v int) { dropped = append(dropped, v) })
			if v != 0 || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
				t.Errorf("detach = %d, %v after %v, want the deadline's error after 1s", v, err, time.Since(start))
			}
			if len(s) != 1 {
				t.Error("the call lost its slot while it is on its way")
			}

			waiting, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := detachErr(waiting, s, func() error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a call without a slot: error %v, want the deadline's", err)
			}

			time.Sleep(time.Hour)
			synctest.Wait()
			if len(s) != 0 {
				t.Error("the call kept its slot")
			}
			if late == nil && (len(dropped) != 1 || dropped[0] != 7) || late != nil && len(dropped) != 0 {
				t.Errorf("late error %v: dropped %v", late, dropped)
			}
		})
	}
}

func TestDetachInTime(t *testing.T) {
	drop := func(int) { t.Error("dropped") }
	if v, err := detach(t.Context(), nil, func() (int, error) { return 7, errLate }, drop); v != 7 || err != errLate {
		t.Errorf("detach = %d, %v", v, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	never := func() (int, error) { t.Error("called"); return 0, nil }
	if _, err := detach(ended, nil, never, drop); !errors.Is(err, context.Canceled) {
		t.Errorf("detach with an ended ctx: %v", err)
	}
}

// The caller of a ReadAt that failed may use its buffer for something else.
func TestTargetRevoked(t *testing.T) {
	p := []byte("....")
	dst := &target{p: p}
	dst.put([]byte("ab"), 1)
	dst.revoke()
	dst.put([]byte("xyz"), 0)
	if string(p) != ".ab." {
		t.Errorf("buffer %q, want %q", p, ".ab.")
	}
}
