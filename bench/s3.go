package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/s3"
	"github.com/walbridge/walbridge/backends/s3/s3test"
)

// s3Group measures the S3 store: its sessions against a fake of S3 Express, what a PUT costs against a real server.
func s3Group(ctx context.Context) ([]Row, error) {
	var rows []Row
	for _, part := range []struct {
		names []string
		run   func(context.Context) ([]Row, error)
	}{
		{[]string{"s3.express_sessions_cold", "s3.express_sessions_steady", "s3.express_stalls"}, s3Sessions},
		{[]string{"s3.put_cpu", "s3.put_p99"}, s3Puts},
		{[]string{"s3.outage_failed", "s3.outage_recovery", "s3.outage_requests"}, s3Outage},
	} {
		if !wanted(part.names...) {
			continue
		}
		got, err := part.run(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(part.names, ", "), err)
		}
		rows = append(rows, got...)
	}
	return rows, nil
}

// s3Identity is how the product, which takes the AWS chain, finds the servers' credentials.
func s3Identity(accessKey, secretKey string) error {
	return errors.Join(os.Setenv("AWS_ACCESS_KEY_ID", accessKey), os.Setenv("AWS_SECRET_ACCESS_KEY", secretKey),
		os.Setenv("AWS_EC2_METADATA_DISABLED", "true"))
}

// s3Client is the SDK as it comes, but for the server it asks.
func s3Client(endpoint, accessKey, secretKey string) *sdk.Client {
	return sdk.New(sdk.Options{
		BaseEndpoint: &endpoint, UsePathStyle: true, Region: s3test.Region,
		Credentials: credentials.NewStaticCredentialsProvider(accessKey, secretKey, ""),
	})
}

func s3Append(ctx context.Context, b backends.Bucket, name string, p []byte) error {
	w, err := b.Create(ctx, name)
	if err != nil {
		return err
	}
	return errors.Join(w.Append(ctx, p, backends.Checksum(p)), w.Close(ctx))
}

// sessionLoad is what one client's sessions came to.
type sessionLoad struct{ cold, steady, stalls float64 }

// s3Sessions writes 64 objects at once and then 100 a second, for 3 lifetimes of a session, through the product and
// through the SDK's own session provider.
func s3Sessions(ctx context.Context) ([]Row, error) {
	if err := s3Identity(s3test.AccessKey, s3test.SecretKey); err != nil {
		return nil, err
	}
	product, err := measureSessions(ctx, func(server *s3test.Server) (putter, func() error, error) {
		b, err := s3.Open(ctx, s3.Options{Bucket: server.Bucket(), Endpoint: server.URL(), Region: s3test.Region})
		if err != nil {
			return nil, nil, err
		}
		return func(ctx context.Context, name string, p []byte) error { return s3Append(ctx, b, name, p) }, b.Close, nil
	})
	if err != nil {
		return nil, err
	}
	bare, err := measureSessions(ctx, func(server *s3test.Server) (putter, func() error, error) {
		client := s3Client(server.URL(), s3test.AccessKey, s3test.SecretKey)
		return func(ctx context.Context, name string, p []byte) error {
			return barePut(ctx, client, server.Bucket(), name, p)
		}, func() error { return nil }, nil
	})
	if err != nil {
		return nil, err
	}
	return []Row{
		beside("s3.express_sessions_cold", "sessions", product.cold, bare.cold, 1),
		beside("s3.express_sessions_steady", "sessions", product.steady, bare.steady, 7),
		beside("s3.express_stalls", "PUTs", product.stalls, bare.stalls, 1),
	}, nil
}

// beside makes a row whose value is bounded, with what the baseline came to.
func beside(name, unit string, value, baseline, most float64) Row {
	r := measure(name, unit, value, most)
	r.Baseline = &baseline
	if baseline != 0 {
		ratio := value / baseline
		r.Ratio = &ratio
	}
	return r
}

// putter stores one object.
type putter func(ctx context.Context, name string, p []byte) error

const (
	sessionLife = 3 * time.Second
	sessionTime = 40 * time.Millisecond
	putTime     = 5 * time.Millisecond
	stallTime   = 35 * time.Millisecond
)

// span is when something began and ended.
type span struct{ began, ended time.Time }

func measureSessions(ctx context.Context, open func(*s3test.Server) (putter, func() error, error)) (
	l sessionLoad, err error,
) {
	var mu sync.Mutex
	var sessions []span
	server, err := s3test.Start(s3test.Options{
		SessionLife: sessionLife,
		Latency:     map[string]time.Duration{s3test.CreateSession: sessionTime, s3test.PutObject: putTime},
		Observe: func(op string, came, answered time.Time) {
			if op == s3test.CreateSession {
				mu.Lock()
				defer mu.Unlock()
				sessions = append(sessions, span{came, answered})
			}
		},
	})
	if err != nil {
		return l, err
	}
	defer server.Close()
	put, closing, err := open(server)
	if err != nil {
		return l, err
	}
	start := time.Now()
	if _, err := pacedPuts(ctx, put, "cold", 64, 0); err != nil {
		return l, err
	}
	l.cold = float64(server.Calls(s3test.CreateSession))
	const rate = 100
	left := 3*sessionLife - time.Since(start)
	puts, err := pacedPuts(ctx, put, "steady", int(left.Seconds()*rate), time.Second/rate)
	if err != nil {
		return l, err
	}
	l.steady = float64(server.Calls(s3test.CreateSession))
	mu.Lock()
	defer mu.Unlock()
	for _, p := range puts {
		if stalled(p, sessions) {
			l.stalls++
		}
	}
	return l, closing()
}

// pacedPuts starts n puts, one every interval, whatever becomes of the earlier ones.
func pacedPuts(ctx context.Context, put putter, dir string, n int, interval time.Duration) ([]span, error) {
	p := make([]byte, 4<<10)
	puts, errs := make([]span, n), make([]error, n)
	var group sync.WaitGroup
	start := time.Now()
	for i := range n {
		time.Sleep(time.Until(start.Add(time.Duration(i) * interval)))
		group.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			puts[i].began = time.Now()
			errs[i] = put(ctx, fmt.Sprintf("%s/%d", dir, i), p)
			puts[i].ended = time.Now()
		})
	}
	group.Wait()
	return puts, errors.Join(errs...)
}

// stalled tells whether a put took long, and a session was made while it waited.
func stalled(put span, sessions []span) bool {
	if put.ended.Sub(put.began) < stallTime {
		return false
	}
	for _, s := range sessions {
		if s.ended.After(put.began) && s.ended.Before(put.ended) {
			return true
		}
	}
	return false
}
