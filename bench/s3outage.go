package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/walbridge/walbridge/backends/quorum"
	"github.com/walbridge/walbridge/backends/s3"
	"github.com/walbridge/walbridge/backends/s3/s3test"
)

const (
	outageTime = time.Minute
	calmTime   = 5 * time.Second
)

// s3Outage stores 100 frames a second in a quorum of three zones, one of which answers 503 to everything for a minute.
func s3Outage(ctx context.Context) (rows []Row, err error) {
	if err := s3Identity(s3test.AccessKey, s3test.SecretKey); err != nil {
		return nil, err
	}
	var zones []quorum.Zone
	var server *s3test.Server // the last one is the one that fails
	for i := range 3 {
		server, err = s3test.Start(s3test.Options{
			Bucket:  fmt.Sprintf("zone%d--use1-az%d--x-s3", i, i),
			Latency: map[string]time.Duration{s3test.PutObject: putTime},
		})
		if err != nil {
			return nil, err
		}
		defer server.Close()
		b, err := s3.Open(ctx, s3.Options{Bucket: server.Bucket(), Endpoint: server.URL(), Region: s3test.Region})
		if err != nil {
			return nil, err
		}
		zones = append(zones, quorum.Zone{Name: fmt.Sprint("zone", i), Bucket: b})
	}
	q, err := quorum.New(zones, quorum.Options{})
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	ran := make(chan error, 1)
	go func() { ran <- q.Run(running) }()
	defer func() {
		stop()
		<-ran
		err = errors.Join(err, q.Close())
	}()

	o := &outage{q: q, server: server}
	rows, err = o.run(ctx)
	return rows, err
}

// outage is the load and the zone that fails.
type outage struct {
	q      *quorum.Bucket
	server *s3test.Server
}

func (o *outage) run(ctx context.Context) ([]Row, error) {
	results := make(chan error, 1)
	total := outageTime + 2*calmTime
	go func() {
		put := func(ctx context.Context, name string, p []byte) error { return s3Append(ctx, o.q, name, p) }
		_, err := pacedPuts(ctx, put, "outage", int(total.Seconds()*100), 10*time.Millisecond)
		results <- err
	}()
	time.Sleep(calmTime)
	before := o.requests()
	o.server.Inject(s3test.Fault{Kind: s3test.SlowDown, Times: -1})
	time.Sleep(outageTime)
	requests := float64(o.requests()-before) / outageTime.Seconds()
	o.server.Heal()
	recovery := o.recovery()
	err := <-results
	return []Row{
		measure("s3.outage_failed", "frames", float64(failures(err)), 0),
		measure("s3.outage_recovery", "s", recovery.Seconds(), 5),
		measure("s3.outage_requests", "1/s", requests, 30),
	}, nil
}

// requests is how many requests for objects the failing zone got.
func (o *outage) requests() int {
	return o.server.Calls(s3test.PutObject) + o.server.Calls(s3test.DeleteObjects)
}

// recovery waits until the quorum writes to the zone again.
func (o *outage) recovery() time.Duration {
	start := time.Now()
	for time.Since(start) < time.Minute {
		down := false
		for _, z := range o.q.Status().Zones {
			down = down || z.Down
		}
		if !down {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(start)
}

// failures counts the errors that were joined.
func failures(err error) int {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return len(joined.Unwrap())
	}
	if err != nil {
		return 1
	}
	return 0
}
