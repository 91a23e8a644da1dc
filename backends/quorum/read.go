package quorum

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/walbridge/walbridge/backends"
)

// ReadAt implements backends.Bucket. It asks the local zone first, the next one where that fails or is slow, and those
// that are broken last; it needs one zone that has the bytes. Where none has:
//
//   - ErrNotFound or ErrRange mean that no zone which answered has the bytes, and that so many answered that no
//     quorum can have them: at least N-W+1. They were never acknowledged, or are deleted.
//   - ErrChecksum means that all zones answered, and that every one which has the bytes has them wrong.
//   - Otherwise the bytes may be in a zone that did not answer.
func (b *Bucket) ReadAt(ctx context.Context, name string, p []byte, off int64) error {
	return b.read(ctx, name, p, off, func([]byte) error { return nil })
}

// ReadChecked is ReadAt of bytes whose CRC-32C is known. A zone that has them wrong is passed over like one that fails.
func (b *Bucket) ReadChecked(ctx context.Context, name string, p []byte, off int64, crc uint32) error {
	return b.read(ctx, name, p, off, func(got []byte) error {
		if sum := backends.Checksum(got); sum != crc {
			return fmt.Errorf("%w: CRC-32C %08x, want %08x", backends.ErrChecksum, sum, crc)
		}
		return nil
	})
}

// ReadValid is ReadAt of bytes that valid can tell from wrong ones: it returns an error, which wraps ErrChecksum, where
// they cannot be right. It is called by many goroutines. A zone that has them wrong is passed over like one that fails.
func (b *Bucket) ReadValid(ctx context.Context, name string, p []byte, off int64, valid func([]byte) error) error {
	if valid == nil {
		return b.ReadAt(ctx, name, p, off)
	}
	return b.read(ctx, name, p, off, valid)
}

func (b *Bucket) read(ctx context.Context, name string, p []byte, off int64, check func([]byte) error) error {
	what := fmt.Sprintf("read %s at %d+%d", name, off, len(p))
	if err := b.check(ctx, name); err != nil {
		return fmt.Errorf("quorum: %s: %w", what, err)
	}
	r := &read{
		bucket: b, what: what, name: name, n: len(p), off: off, check: check,
		order: b.readOrder(), answers: make(chan answer, len(b.zones)),
	}
	got, err := r.run(ctx)
	copy(p, got)
	return err
}

// readOrder returns the zones as they are to be read.
func (b *Bucket) readOrder() []*zone {
	var well, broken []*zone
	for _, z := range b.zones {
		if z.broken() {
			broken = append(broken, z)
		} else {
			well = append(well, z)
		}
	}
	return append(well, broken...)
}

// read is one read of a range, which asks one zone after the other. It serves one goroutine.
type read struct {
	bucket *Bucket
	what   string
	name   string
	n      int
	off    int64
	check  func([]byte) error

	order   []*zone // those that have not been asked
	ops     []*op
	answers chan answer // one from each zone that was asked, never blocks
	errs    []error
}

// answer is what a zone says to a read.
type answer struct {
	p   []byte
	err error
}

func (r *read) run(ctx context.Context) ([]byte, error) {
	hedge := time.NewTimer(r.hedgeDelay())
	defer hedge.Stop()
	for r.next(ctx); ; {
		select {
		case a := <-r.answers:
			if a.err == nil {
				// The others go on: it shows if they are broken, and what they have read can cost no more.
				for _, o := range r.ops {
					o.leave()
				}
				return a.p, nil
			}
			r.errs = append(r.errs, a.err)
			if len(r.errs) == len(r.bucket.zones) {
				return nil, readFailure(r.what, r.errs, r.bucket.opts.Quorum)
			}
			if !r.next(ctx) {
				continue
			}
		case <-hedge.C:
			if !r.next(ctx) {
				continue
			}
			r.bucket.metrics.hedges.Inc()
		case <-ctx.Done():
			for _, o := range r.ops {
				o.abort()
			}
			return nil, &failure{what: r.what, is: []error{ctx.Err()}, zones: r.errs}
		}
		hedge.Reset(r.hedgeDelay())
	}
}

func (r *read) hedgeDelay() time.Duration {
	if d := r.bucket.opts.HedgeDelay; d > 0 {
		return d
	}
	return r.bucket.opts.ReadTimeout + r.bucket.opts.Grace // The zone has failed by then.
}

// next asks the next zone, if there is one. Each zone reads into a buffer of its own: one that is slow must not write
// into the caller's when the read is over.
func (r *read) next(ctx context.Context) bool {
	if len(r.order) == 0 {
		return false
	}
	z := r.order[0]
	r.order = r.order[1:]
	p := make([]byte, r.n)
	report := func(err error) {
		z.metrics.read(err)
		if errors.Is(err, backends.ErrChecksum) {
			z.opts.Logger.Warn("wrong bytes", "zone", z.name, "object", r.name, "op", "read", "err", err)
		}
		r.answers <- answer{p: p, err: err}
	}
	o, err := z.begin(ctx, opRead, r.what, int64(r.n), r.bucket.opts.ReadTimeout, report)
	if err != nil {
		report(err)
		return true
	}
	r.ops = append(r.ops, o)
	z.running.run(func() {
		err := z.bucket.ReadAt(o.ctx, r.name, p, r.off)
		if err == nil {
			err = r.check(p)
		}
		o.end(err)
	})
	return true
}

// readFailure is the error of a read that no zone could serve: errs has one error per zone, quorum is W.
func readFailure(what string, errs []error, quorum int) error {
	f := &failure{what: what, zones: errs}
	missing, short, corrupt := count(errs, backends.ErrNotFound), count(errs, backends.ErrRange),
		count(errs, backends.ErrChecksum)
	answered := missing + short + corrupt
	switch {
	case corrupt > 0 && answered == len(errs):
		f.is = append(f.is, backends.ErrChecksum)
	case corrupt > 0:
	case answered <= len(errs)-quorum:
	case short > 0:
		f.is = append(f.is, backends.ErrRange)
	default:
		f.is = append(f.is, backends.ErrNotFound)
	}
	for _, sentinel := range []error{backends.ErrDenied, backends.ErrThrottled} {
		if all(errs, sentinel) {
			f.is = append(f.is, sentinel)
		}
	}
	return f
}
