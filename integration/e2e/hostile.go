package main

import (
	"context"
	"fmt"
	"time"

	"github.com/walbridge/walbridge/integration/hostile"
)

// What an attack may cost.
const (
	mostRSS = 512 << 20
	mostP99 = 2.0
)

// hostileScenario measures every attack on one daemon: memory is bounded, no honest copy fails, and none takes long.
func hostileScenario(ctx context.Context, r *run) error {
	p, target, err := hostile.Start(ctx, r.dir)
	if err != nil {
		return err
	}
	defer p.Kill()
	for _, a := range hostile.Attacks {
		r.try(a.Name, func() error {
			got, err := hostile.Measure(ctx, hostile.Options{
				Target: target, PID: p.PID(), Window: 3 * time.Second, Blocks: 5,
			}, a)
			if err != nil {
				return err
			}
			r.measured(a.Name, got)
			return judge(got)
		})
		if err := p.Ended(); err != nil {
			return err
		}
	}
	return nil
}

func judge(r hostile.Result) error {
	switch {
	case r.Failures > 0:
		return fmt.Errorf("%d of %d honest copies failed, the last with: %s", r.Failures, r.Copies, r.Failure)
	case r.PeakRSS > mostRSS:
		return fmt.Errorf("%d MiB resident, at most %d are wanted", r.PeakRSS>>20, mostRSS>>20)
	case r.AttackedP99 > mostP99*r.CalmP99:
		return fmt.Errorf("p99 %.1f ms, calm %.1f ms", r.AttackedP99, r.CalmP99)
	}
	return nil
}
