package s3

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/walbridge/walbridge/backends"
)

const (
	// probes is how often each operation is measured, on an object of probeBytes.
	probes     = 5
	probeBytes = 256 << 10
)

// objects writes, reads, lists and deletes a few objects, and sees whether the store keeps its promises about them.
func (d *diagnosis) objects() bool {
	dir := "doctor/" + ulid.MustNew(ulid.Now(), rand.Reader).String()
	content := make([]byte, probeBytes)
	_, _ = rand.Read(content) // it never fails
	crc := backends.Checksum(content)
	names := make([]string, probes)
	for i := range names {
		names[i] = fmt.Sprintf("%s/%d", dir, i)
	}
	wrong := dir + "/wrong"
	defer func() { _, _ = d.b.Delete(d.ctx, append(names, wrong)) }() // also where a step before the delete failed

	read := make([]byte, probeBytes)
	return d.measure("write 256 KiB", putAction, names, func(name string) error {
		return d.append(name, content, crc)
	}) &&
		d.promise(names[0], wrong, content, crc) &&
		d.measure("read 256 KiB", getAction, names, func(name string) error {
			return d.b.ReadAt(d.ctx, name, read, 0)
		}) &&
		d.measure("list", listAction, names[:1], func(string) error { return d.list(dir) }) &&
		d.measure("delete", deleteAction, names, func(name string) error {
			_, err := d.b.Delete(d.ctx, []string{name})
			return err
		})
}

func (d *diagnosis) append(name string, p []byte, crc uint32) error {
	w, err := d.b.Create(d.ctx, name)
	if err != nil {
		return err
	}
	return errors.Join(w.Append(d.ctx, p, crc), w.Close(d.ctx))
}

func (d *diagnosis) list(dir string) error {
	n := 0
	for _, err := range d.b.List(d.ctx, dir) {
		if err != nil {
			return err
		}
		n++
	}
	if n < probes {
		return fmt.Errorf("lists %d of %d objects that were just written", n, probes)
	}
	return nil
}

// measure does one operation on each name.
func (d *diagnosis) measure(what, action string, names []string, do func(name string) error) bool {
	var times []time.Duration
	for _, name := range names {
		start := time.Now()
		err := do(name)
		switch {
		case errors.Is(err, backends.ErrDenied):
			d.denied(what, action, err)
			return false
		case err != nil:
			d.add(Problem, what, "%v", err)
			return false
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	text := make([]string, len(times))
	for i, t := range times {
		text[i] = fmt.Sprintf("%.1f", float64(t)/float64(time.Millisecond))
	}
	d.add(Fact, what, "took %s ms", strings.Join(text, ", "))
	return true
}

// promise sees whether the store refuses what it must refuse: a name that is taken, and bytes that were changed on the
// way. Some servers that speak S3 ignore either.
func (d *diagnosis) promise(taken, wrong string, content []byte, crc uint32) bool {
	if err := d.append(taken, content, crc); errors.Is(err, backends.ErrExists) {
		d.add(Fact, "conditional writes", "a name that is taken is refused")
	} else {
		d.add(Problem, "conditional writes", "a second write of the same name came to %q, not to a refusal: "+
			"the store ignores If-None-Match, and two writers could overwrite each other's objects", fmt.Sprint(err))
	}
	if err := d.append(wrong, content, crc^1); errors.Is(err, backends.ErrChecksum) {
		d.add(Fact, "checksums", "bytes that do not match their CRC-32C are refused")
	} else {
		d.add(Problem, "checksums", "a write with a wrong checksum came to %q, not to a refusal: "+
			"the store would keep what was damaged or cut off on the way", fmt.Sprint(err))
	}
	return context.Cause(d.ctx) == nil
}
