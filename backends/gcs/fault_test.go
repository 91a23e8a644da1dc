package gcs_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	"cloud.google.com/go/storage"
	"google.golang.org/grpc/codes"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/gcs"
	"github.com/walbridge/walbridge/backends/gcs/gcstest"
)

var ( // What befalls a stream.
	unavailableBefore = gcstest.Fault{Code: codes.Unavailable}
	unavailableAfter  = gcstest.Fault{Code: codes.Unavailable, Applied: true}
	internalAfter     = gcstest.Fault{Code: codes.Internal, Applied: true}
	silentBefore      = gcstest.Fault{Silent: true}
	lostAck           = gcstest.Fault{Silent: true, Applied: true}
	redirect          = gcstest.Fault{Redirect: true}
	aborted           = gcstest.Fault{Code: codes.Aborted}
	abortedAfter      = gcstest.Fault{Code: codes.Aborted, Applied: true}
	cleanEnd          = gcstest.Fault{}
	cleanEndAfter     = gcstest.Fault{Applied: true}
	exhausted         = gcstest.Fault{Code: codes.ResourceExhausted}
	denied            = gcstest.Fault{Code: codes.PermissionDenied}
	wrongChecksum     = gcstest.Fault{Code: codes.InvalidArgument}
)

// A Create fails or succeeds as it should, and the next one, under another name, always succeeds.
func TestCreateFaults(t *testing.T) {
	for name, c := range map[string]struct {
		fault gcstest.Fault
		want  error // nil where the SDK gets over it
	}{
		"unavailable before": {unavailableBefore, nil},
		"unavailable after":  {unavailableAfter, backends.ErrExists},
		"silent":             {silentBefore, context.DeadlineExceeded},
		"lost ack":           {lostAck, context.DeadlineExceeded},
		"redirect":           {redirect, nil},
		"aborted":            {aborted, errAny},
		"clean end":          {cleanEnd, errAny},
		"clean end after":    {cleanEndAfter, errAny},
		"throttled":          {exhausted, backends.ErrThrottled},
		"denied":             {denied, backends.ErrDenied},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, gcstest.Options{})
			b := open(t, s, gcs.Options{Bucket: "zonal"})
			defer close(t, b)
			s.Inject(gcstest.Create, c.fault)
			w, err := b.Create(patience(t, c.fault), "a")
			if !matches(err, c.want) {
				t.Fatalf("Create: error %v, want %v", err, c.want)
			}
			if err == nil {
				appendAll(t, w, "x")
				closeWriter(t, w)
				wantContent(t, b, "a", "x")
			}
			w, err = b.Create(deadline(t), "b")
			if err != nil {
				t.Fatalf("the next Create: %v", err)
			}
			appendAll(t, w, "y")
			closeWriter(t, w)
			wantContent(t, b, "b", "y")
		})
	}
}

// An Append fails or succeeds as it should. What succeeded, before and now, is there once and nothing is behind it but,
// after a failure, what failed.
func TestAppendFaults(t *testing.T) {
	for name, c := range map[string]struct {
		fault gcstest.Fault
		want  error
	}{
		"unavailable before": {unavailableBefore, nil},
		"unavailable after":  {unavailableAfter, nil},
		"internal after":     {internalAfter, nil},
		"silent":             {silentBefore, context.DeadlineExceeded},
		"lost ack":           {lostAck, context.DeadlineExceeded},
		"redirect":           {redirect, nil},
		"aborted":            {aborted, errAny},
		"aborted after":      {abortedAfter, errAny},
		"clean end":          {cleanEnd, errAny},
		"clean end after":    {cleanEndAfter, errAny},
		"throttled":          {exhausted, backends.ErrThrottled},
		"denied":             {denied, backends.ErrDenied},
		"wrong checksum":     {wrongChecksum, errAny},
	} {
		for _, size := range []int{10, 256 << 10, 3<<20 + 1} {
			t.Run(fmt.Sprintf("%s/%d", name, size), func(t *testing.T) {
				s := start(t, gcstest.Options{})
				b := open(t, s, gcs.Options{Bucket: "zonal"})
				defer close(t, b)
				w, err := b.Create(deadline(t), "a")
				if err != nil {
					t.Fatal(err)
				}
				first, second, third := random(size), random(size), random(size)
				appendAll(t, w, first)
				s.Inject(gcstest.Append, c.fault)
				err = w.Append(patience(t, c.fault), []byte(second), backends.Checksum([]byte(second)))
				if !matches(err, c.want) {
					t.Fatalf("Append: error %v, want %v", err, c.want)
				}
				switch {
				case err == nil:
					appendAll(t, w, third)
					wantContent(t, b, "a", first+second+third)
				case c.fault.Applied:
					wantContent(t, b, "a", first+second)
				default:
					wantContent(t, b, "a", first)
				}
				closeWriter(t, w)
			})
		}
	}
}

// A stream that ended while its writer was in the pool costs nothing, or that one writer.
func TestStaleStream(t *testing.T) {
	for code, want := range map[codes.Code]error{
		codes.Unavailable:        nil,
		codes.Internal:           nil,
		codes.Aborted:            errAny,
		codes.FailedPrecondition: errAny,
		codes.Canceled:           errAny,
		codes.OK:                 errAny,
	} {
		t.Run(code.String(), func(t *testing.T) {
			s := start(t, gcstest.Options{})
			b := open(t, s, gcs.Options{Bucket: "zonal"})
			defer close(t, b)
			w, err := b.Create(deadline(t), "a")
			if err != nil {
				t.Fatal(err)
			}
			s.BreakStreams(code)
			err = w.Append(deadline(t), []byte("x"), backends.Checksum([]byte("x")))
			if !matches(err, want) {
				t.Errorf("Append on a stream that ended with %v: error %v, want %v", code, err, want)
			}
			closeWriter(t, w)
			if err == nil {
				wantContent(t, b, "a", "x")
			} else {
				wantContent(t, b, "a", "")
			}
		})
	}
}

// Who takes an object over ends its writer, whose next Append fails and stores nothing.
func TestTakenOver(t *testing.T) {
	for _, code := range []codes.Code{codes.Aborted, codes.FailedPrecondition, codes.Canceled} {
		t.Run(code.String(), func(t *testing.T) {
			s := start(t, gcstest.Options{FencedCode: code})
			b := open(t, s, gcs.Options{Bucket: "zonal"})
			defer close(t, b)
			w, err := b.Create(deadline(t), "a")
			if err != nil {
				t.Fatal(err)
			}
			appendAll(t, w, "old")
			takeOver(t, s, "a", "new")
			err = w.Append(deadline(t), []byte("late"), backends.Checksum([]byte("late")))
			if err == nil || errors.Is(err, backends.ErrFenced) {
				t.Errorf("Append to an object that was taken over: error %v, want one that another writer can pass", err)
			}
			closeWriter(t, w)
			wantContent(t, b, "a", "oldnew")
		})
	}
}

// takeOver appends to an object of the zonal bucket, as somebody else.
func takeOver(t *testing.T, s *gcstest.Server, name, p string) {
	t.Helper()
	ctx := deadline(t)
	client, err := storage.NewGRPCClient(ctx, append(s.ClientOptions(), storage.WithDisabledClientMetrics())...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	object := client.Bucket("zonal").Object(name)
	attrs, err := object.Attrs(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := object.Generation(attrs.Generation).NewWriterFromAppendableObject(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(p)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// A service that answers nothing for good fails an operation at its deadline.
func TestSilence(t *testing.T) {
	s := start(t, gcstest.Options{})
	b := open(t, s, gcs.Options{Bucket: "zonal"})
	defer close(t, b)
	w, err := b.Create(deadline(t), "a")
	if err != nil {
		t.Fatal(err)
	}
	s.Inject(gcstest.Create, silentBefore)
	s.Inject(gcstest.Append, silentBefore)
	s.Inject(gcstest.Read, silentBefore)
	s.Inject(gcstest.Delete, silentBefore)
	s.Inject(gcstest.List, silentBefore)
	for op, call := range map[string]func(context.Context) error{
		"Create": func(ctx context.Context) error { _, err := b.Create(ctx, "b"); return err },
		"Append": func(ctx context.Context) error { return w.Append(ctx, []byte("x"), backends.Checksum([]byte("x"))) },
		"ReadAt": func(ctx context.Context) error { return b.ReadAt(ctx, "a", make([]byte, 1), 0) },
		"Delete": func(ctx context.Context) error { _, err := b.Delete(ctx, []string{"a"}); return err },
		"List": func(ctx context.Context) error {
			for _, err := range b.List(ctx, "") {
				return err
			}
			return nil
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		done := make(chan error, 1)
		go func() { done <- call(ctx) }()
		select {
		case err := <-done:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: error %v, want %v", op, err, context.DeadlineExceeded)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s did not return when its ctx ended", op)
		}
		cancel()
	}
	closeWriter(t, w)
}

// The regional bucket's one write is never repeated: it fails, and the object is there or not.
func TestPutFaults(t *testing.T) {
	for name, fault := range map[string]gcstest.Fault{
		"unavailable before": unavailableBefore,
		"unavailable after":  unavailableAfter,
		"aborted":            aborted,
		"clean end":          cleanEnd,
		"clean end after":    cleanEndAfter,
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, gcstest.Options{})
			b := open(t, s, gcs.Options{Bucket: "regional"})
			defer close(t, b)
			w, err := b.Create(deadline(t), "a")
			if err != nil {
				t.Fatal(err)
			}
			s.Inject(gcstest.Finalize, fault)
			err = w.Append(deadline(t), []byte("x"), backends.Checksum([]byte("x")))
			if err == nil || errors.Is(err, backends.ErrExists) {
				t.Errorf("Append: error %v, want that the outcome is unknown", err)
			}
			closeWriter(t, w)
			if fault.Applied {
				wantContent(t, b, "a", "x")
			} else if err := b.ReadAt(deadline(t), "a", nil, 0); !errors.Is(err, backends.ErrNotFound) {
				t.Errorf("ReadAt of what was not written: error %v", err)
			}
		})
	}
}

// Reads pass what they can pass, and never return wrong bytes.
func TestReadFaults(t *testing.T) {
	for name, c := range map[string]struct {
		fault gcstest.Fault
		want  error
	}{
		"unavailable": {unavailableBefore, nil},
		"redirect":    {redirect, nil},
		"throttled":   {exhausted, backends.ErrThrottled},
		"denied":      {denied, backends.ErrDenied},
		"clean end":   {cleanEnd, errAny},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, gcstest.Options{})
			b := open(t, s, gcs.Options{Bucket: "zonal"})
			defer close(t, b)
			w, err := b.Create(deadline(t), "a")
			if err != nil {
				t.Fatal(err)
			}
			want := random(5 << 20)
			appendAll(t, w, want)
			s.Inject(gcstest.Read, c.fault)
			got := make([]byte, len(want))
			if err := b.ReadAt(deadline(t), "a", got, 0); !matches(err, c.want) {
				t.Errorf("ReadAt: error %v, want %v", err, c.want)
			} else if err == nil && string(got) != want {
				t.Error("ReadAt returned other bytes")
			}
			closeWriter(t, w)
		})
	}
}

// errAny is any error that wraps none of the contract's, so that a caller tries again elsewhere.
var errAny = errors.New("any")

func matches(err, want error) bool {
	if want != errAny {
		return errors.Is(err, want)
	}
	for _, sentinel := range []error{
		backends.ErrExists, backends.ErrNotFound, backends.ErrRange, backends.ErrChecksum, backends.ErrThrottled,
		backends.ErrDenied, backends.ErrFenced, backends.ErrName, backends.ErrClosed,
	} {
		if errors.Is(err, sentinel) {
			return false
		}
	}
	return err != nil
}

func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// patience is a deadline that a silent service is not given in full.
func patience(t testing.TB, fault gcstest.Fault) context.Context {
	if !fault.Silent {
		return deadline(t)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

func random(n int) string {
	p := make([]byte, n)
	_, _ = rand.Read(p) // It never fails.
	return string(p)
}

func appendAll(t testing.TB, w backends.Writer, p string) {
	t.Helper()
	if err := w.Append(deadline(t), []byte(p), backends.Checksum([]byte(p))); err != nil {
		t.Fatalf("Append: %v", err)
	}
}

func closeWriter(t testing.TB, w backends.Writer) {
	t.Helper()
	if err := w.Close(deadline(t)); err != nil {
		t.Errorf("Close of the Writer: %v", err)
	}
}

func close(t testing.TB, b *gcs.Bucket) {
	t.Helper()
	if err := b.Close(); err != nil {
		t.Errorf("Close of the Bucket: %v", err)
	}
}

// wantContent checks that the object has these bytes and no others.
func wantContent(t testing.TB, b *gcs.Bucket, name, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if err := b.ReadAt(deadline(t), name, got, 0); err != nil || !bytes.Equal(got, []byte(want)) {
		t.Errorf("ReadAt(%s): other bytes than the %d it should have, or error %v", name, len(want), err)
	}
	if err := b.ReadAt(deadline(t), name, make([]byte, 1), int64(len(want))); !errors.Is(err, backends.ErrRange) {
		t.Errorf("ReadAt(%s) behind its %d bytes: error %v, want ErrRange", name, len(want), err)
	}
}
