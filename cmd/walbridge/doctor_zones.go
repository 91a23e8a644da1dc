package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/s3"
	"github.com/walbridge/walbridge/cmd/walbridge/config"
)

// zones looks at every zone as the daemon would use it.
func (e *examination) zones(ctx context.Context) {
	for _, z := range e.config.Zones {
		u, err := url.Parse(z.URL)
		if err != nil {
			continue // The configuration was checked.
		}
		switch u.Scheme {
		case "s3":
			e.s3(ctx, z)
			continue
		case "file":
			e.disk(z.Name, u.Path)
		}
		e.zone(ctx, z)
	}
	e.oneDisk()
}

// s3 leaves the examination to the store, which knows more than the contract says.
func (e *examination) s3(ctx context.Context, z config.Zone) {
	o, err := s3.ParseURL(z.URL)
	if err != nil {
		e.wrong("zone "+z.Name, "correct the zone's url", "%v", err)
		return
	}
	verdicts := map[s3.Severity]verdict{s3.Fact: fine, s3.Warning: warning, s3.Problem: problem}
	for _, f := range s3.Diagnose(ctx, o, time.Duration(e.config.Lifecycle.Retention)) {
		e.findings = append(e.findings, finding{Verdict: verdicts[f.Severity], Check: "zone " + z.Name + ": " + f.Check, Detail: f.Detail})
	}
}

// zone writes, reads, lists and deletes one small object.
func (e *examination) zone(ctx context.Context, z config.Zone) {
	check := "zone " + z.Name
	limit := time.Duration(e.config.Timeouts.Zone)
	b, err := openZone(ctx, z.URL, slog.New(slog.DiscardHandler))
	if err != nil {
		e.wrong(check, "see that the bucket or folder is there and that the daemon's user has read and write access",
			"open %s: %v", config.Redact(z.URL), config.Hide(err, z.URL))
		return
	}
	defer b.Close()
	name := e.config.ClusterID + "/doctor/" + ulid.Make().String()
	var times string
	slow := false
	for _, step := range roundTrip(b, name) {
		began := time.Now()
		bounded, cancel := context.WithTimeout(ctx, 5*limit)
		err := step.do(bounded)
		cancel()
		took := time.Since(began)
		if err != nil {
			_, _ = b.Delete(context.WithoutCancel(ctx), []string{name})
			e.wrong(check, advice(err), "%s %s: %v", step.name, name, err)
			return
		}
		times += fmt.Sprintf(" %s %v,", step.name, took.Round(10*time.Microsecond))
		slow = slow || took > limit
	}
	if slow {
		e.warn(check, "look for what is slow, or raise timeouts.zone", "works, but slower than timeouts.zone, %v:%s", limit, times)
		return
	}
	e.fine(check, "works:%s", times[:len(times)-1])
}

// step is one thing that is asked of a zone.
type step struct {
	name string
	do   func(context.Context) error
}

func roundTrip(b backends.Bucket, name string) []step {
	content := []byte("walbridge doctor")
	var w backends.Writer
	return []step{
		{"create", func(ctx context.Context) (err error) {
			w, err = b.Create(ctx, name)
			return err
		}},
		{"append", func(ctx context.Context) error {
			err := w.Append(ctx, content, backends.Checksum(content))
			return errors.Join(err, w.Close(ctx))
		}},
		{"read", func(ctx context.Context) error {
			p := make([]byte, len(content))
			if err := b.ReadAt(ctx, name, p, 0); err != nil {
				return err
			}
			if !bytes.Equal(p, content) {
				return fmt.Errorf("read %q, wrote %q: %w", p, content, backends.ErrChecksum)
			}
			return nil
		}},
		{"list", func(ctx context.Context) error {
			for o, err := range b.List(ctx, name[:len(name)-ulid.EncodedSize-1]) {
				if err != nil {
					return err
				}
				if o.Name == name {
					return nil
				}
			}
			return fmt.Errorf("what was written is not listed: %w", backends.ErrNotFound)
		}},
		{"delete", func(ctx context.Context) error {
			deleted, err := b.Delete(ctx, []string{name})
			if err == nil && len(deleted) != 1 {
				err = errors.New("not confirmed")
			}
			return err
		}},
	}
}

func advice(err error) string {
	switch {
	case errors.Is(err, backends.ErrDenied):
		return "give the daemon's user or role the right to do that"
	case errors.Is(err, backends.ErrThrottled):
		return "the store throttles: spread the load, or ask for a higher limit"
	case errors.Is(err, context.DeadlineExceeded):
		return "the zone does not answer in time: look at its network and its load"
	}
	return "see that the zone is there and whole; the daemon goes on without it as long as the others make a quorum"
}
