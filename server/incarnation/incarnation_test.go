package incarnation_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/faulty"
	"github.com/walbridge/walbridge/backends/mem"
	"github.com/walbridge/walbridge/backends/quorum"
	"github.com/walbridge/walbridge/server/incarnation"
)

func zones(t *testing.T) (backends.Bucket, []*faulty.Plan) {
	var qs []quorum.Zone
	var plans []*faulty.Plan
	for i, name := range []string{"a", "b", "c"} {
		p := faulty.NewPlan(uint64(i))
		plans = append(plans, p)
		// One append and no empty object, as on S3: the claim itself is then what must not exist.
		caps := mem.Options{Appends: 1 + i%2}
		qs = append(qs, quorum.Zone{Name: name, Bucket: faulty.Wrap(mem.New(caps), p)})
	}
	b, err := quorum.New(qs, quorum.Options{ZoneTimeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b, plans
}

func claim(b backends.Bucket, broker int32) (uint32, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return incarnation.Claim(ctx, b, "cluster", broker, incarnation.Owner{Host: "h", PID: 1})
}

func TestClaimCountsPerBroker(t *testing.T) {
	b, _ := zones(t)
	for want := uint32(1); want <= 3; want++ {
		if got, err := claim(b, 1); err != nil || got != want {
			t.Fatalf("claim: got %d, %v, want %d", got, err, want)
		}
	}
	if got, err := claim(b, 2); err != nil || got != 1 {
		t.Errorf("the first of another broker: got %d, %v", got, err)
	}
}

// However many starts race, and with a zone that is gone or loses its answers, no two get the same number.
func TestClaimIsExclusive(t *testing.T) {
	for name, faults := range map[string]faulty.Faults{
		"healthy": {}, "zone gone": {Fail: 1}, "lost answers": {LostAck: 0.5}, "hang": {Hang: 0.3},
	} {
		t.Run(name, func(t *testing.T) {
			b, plans := zones(t)
			plans[1].Set(faults, faulty.Create, faulty.Append, faulty.List)
			const starts = 8
			got := make(chan uint32, starts)
			for range starts {
				go func() {
					n, err := claim(b, 1)
					if err != nil {
						t.Errorf("claim: %v", err)
					}
					got <- n
				}()
			}
			seen := map[uint32]bool{}
			for range starts {
				n := <-got
				if seen[n] {
					t.Errorf("incarnation %d was given twice", n)
				}
				seen[n] = true
			}
		})
	}
}

func TestClaimNeedsAQuorum(t *testing.T) {
	b, plans := zones(t)
	for _, p := range plans[:2] {
		p.Set(faulty.Faults{Fail: 1, Err: backends.ErrDenied}, faulty.Create, faulty.Append)
	}
	if n, err := claim(b, 1); !errors.Is(err, backends.ErrDenied) {
		t.Errorf("claimed %d, %v", n, err)
	}
}
