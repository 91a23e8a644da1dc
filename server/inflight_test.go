package server

import (
	"errors"
	"math/rand/v2"
	"testing"
)

func TestInflight(t *testing.T) {
	f, c := newInflight(10), newConnection()
	first := f.reserve(c, 10, nil)
	if first == nil || f.reserve(c, 1, nil) != nil {
		t.Error("ten bytes and no more fit")
	}
	f.release(first)
	f.release(first) // Twice is once.
	if f.used() != 0 || f.reserve(c, 5, nil) == nil || f.reserve(c, 6, nil) != nil || f.used() != 5 {
		t.Errorf("after a release: %d in use", f.used())
	}
}

// Who announces much and sends nothing gives way to who announces less, and to nobody else.
func TestInflightIsFair(t *testing.T) {
	f, hostile, honest := newInflight(100), newConnection(), newConnection()
	var evicted []int
	var held []*reservation
	for i := range 4 {
		held = append(held, f.reserve(hostile, 25, func(err error) {
			if !errors.Is(err, errFull) {
				t.Errorf("evicted with %v", err)
			}
			evicted = append(evicted, i)
		}))
	}
	f.arrive(held[0])
	mine := f.reserve(honest, 10, func(error) { t.Error("the honest copy was evicted") })
	if mine == nil || len(evicted) != 1 || evicted[0] != 1 {
		t.Fatalf("evicted %v, want the oldest that has not arrived", evicted)
	}
	if f.reserve(hostile, 25, nil) != nil {
		t.Error("the greediest connection took another's place")
	}
	f.release(held[1]) // When its handler ends, late: its room was given back already.
	if f.used() != 25+25+25+10 {
		t.Errorf("%d bytes in use", f.used())
	}
}

// Whatever comes, the bound holds, and when all is over nothing is left.
func TestInflightAnySchedule(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		f := newInflight(1000)
		var connections [5]*connection
		for i := range connections {
			connections[i] = newConnection()
		}
		var all []*reservation
		for range 300 {
			switch r.IntN(3) {
			case 0:
				all = append(all, f.reserve(connections[r.IntN(5)], r.Int64N(400), func(error) {}))
			case 1:
				if len(all) > 0 && all[len(all)-1] != nil {
					f.arrive(all[len(all)-1])
				}
			case 2:
				if len(all) > 0 {
					i := r.IntN(len(all))
					f.release(all[i])
					all = append(all[:i], all[i+1:]...)
				}
			}
			if f.used() < 0 || f.used() > f.max {
				t.Fatalf("seed %d: %d of %d bytes", seed, f.used(), f.max)
			}
		}
		for _, held := range all {
			f.release(held)
		}
		for _, c := range connections {
			if f.used() != 0 || c.incomingBytes != 0 || len(c.incoming) != 0 || len(f.incoming) != 0 {
				t.Fatalf("seed %d: %d bytes and %+v are left", seed, f.used(), c)
			}
		}
	}
}
