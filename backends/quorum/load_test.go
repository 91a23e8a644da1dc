package quorum

import (
	"math/rand/v2"
	"testing"
)

// A load after any run of operations is the sum of those that are under way.
func TestLoadRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(testSeed(t), 0))
	type op struct {
		bytes       int64
		late, stuck bool
	}
	var l load
	var under []*op
	for range 100_000 {
		i := r.IntN(len(under) + 1)
		switch {
		case i == len(under):
			under = append(under, &op{bytes: r.Int64N(100)})
			l = l.begin()
		case r.IntN(3) == 0:
			o := under[i]
			under = append(under[:i], under[i+1:]...)
			l = l.end(o.bytes, o.late, o.stuck)
		case r.IntN(2) == 0 && !under[i].late:
			under[i].late = true
			l = l.leave(under[i].bytes)
		case !under[i].stuck:
			under[i].stuck = true
			l = l.stick()
		}
		want := load{ops: len(under)}
		for _, o := range under {
			if o.late {
				want.late++
				want.lateBytes += o.bytes
			}
			if o.stuck {
				want.stuck++
			}
		}
		if l != want {
			t.Fatalf("load %+v, want %+v", l, want)
		}
	}
}

func TestLoadLimit(t *testing.T) {
	limit := loadLimit{ops: 2, lateBytes: 10}
	l := load{}.begin()
	if !l.admits(limit) || l.begin().admits(limit) {
		t.Error("a zone must admit two operations, and no third")
	}
	if l = l.leave(4); !l.holds(6, limit) || l.holds(7, limit) {
		t.Error("a zone that holds 4 bytes must hold 6 more, and not 7")
	}
	if l = l.end(4, true, false); !l.holds(10, limit) || l.holds(11, limit) {
		t.Error("a zone that holds nothing must hold 10 bytes, and not 11")
	}
}
