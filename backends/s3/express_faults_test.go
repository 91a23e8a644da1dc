package s3_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/s3"
	"github.com/walbridge/walbridge/backends/s3/s3test"
)

// soon is what an operation gets. Half of it goes to an attempt that hangs.
const soon = 10 * time.Second

// within returns a ctx as a quorum gives one.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func put(ctx context.Context, b backends.Bucket, name string, p []byte) error {
	w, err := b.Create(ctx, name)
	if err != nil {
		return err
	}
	return errors.Join(w.Append(ctx, p, backends.Checksum(p)), w.Close(ctx))
}

func mustPut(t *testing.T, b backends.Bucket, name string, p []byte) {
	t.Helper()
	if err := put(within(t, soon), b, name, p); err != nil {
		t.Fatal(err)
	}
}

func wantContent(t *testing.T, b backends.Bucket, name string, want []byte) {
	t.Helper()
	got := make([]byte, len(want))
	if err := b.ReadAt(within(t, soon), name, got, 0); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: other bytes, or %v", name, err)
	}
}

func names(t *testing.T, b backends.Bucket, dir string) (names []string) {
	t.Helper()
	for o, err := range b.List(within(t, soon), dir) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, o.Name)
	}
	slices.Sort(names)
	return names
}

// transient are the faults that an operation gets over by itself, whichever it is.
var transient = map[string]s3test.Kind{
	"slow down": s3test.SlowDown, "internal error": s3test.Internal, "bad gateway": s3test.BadGateway,
	"aborted": s3test.Aborted, "slow body": s3test.SlowBody, "session ends": s3test.SessionEnds, "reset": s3test.Reset,
	"hang": s3test.Hang, "lost answer": s3test.Lost, "lost answer, hang": s3test.LostThenHang,
}

// Whatever goes wrong once, or twice, an Append succeeds, and the object is what was appended: no answer that was lost
// is taken for another's object.
func TestAppendGetsOverFaults(t *testing.T) {
	server := startExpress(t, s3test.Options{})
	b := openExpress(t, server)
	faults := map[string]s3test.Kind{"conflict": s3test.Conflict, "sent twice": s3test.SentTwice}
	for name, kind := range transient {
		faults[name] = kind
	}
	for name, kind := range faults {
		for _, times := range []int{1, 2} {
			if times > 1 && (kind == s3test.SessionEnds || kind == s3test.Hang || kind == s3test.LostThenHang) {
				continue // a session is renewed once, and the second attempt gets all the time that is left
			}
			t.Run(fmt.Sprint(name, times), func(t *testing.T) {
				object := fmt.Sprintf("faults/%d/%d", kind, times)
				want := []byte(object + strings.Repeat("x", 100_000))
				server.Inject(s3test.Fault{Op: s3test.PutObject, Kind: kind, Times: times})
				mustPut(t, b, object, want)
				if n := server.Heal(); n != 0 && (kind != s3test.SentTwice || times == 1) {
					t.Errorf("%d faults are left: the test tested nothing", n)
				}
				wantContent(t, b, object, want)
				if err := put(within(t, soon), b, object, []byte("other")); !errors.Is(err, backends.ErrExists) {
					t.Errorf("another creator: %v, want ErrExists", err)
				}
				wantContent(t, b, object, want)
			})
		}
	}
}

// The same for what only reads or deletes.
func TestOthersGetOverFaults(t *testing.T) {
	server := startExpress(t, s3test.Options{PageSize: 2})
	b := openExpress(t, server)
	want := bytes.Repeat([]byte("content"), 10_000)
	for name, kind := range transient {
		t.Run(name, func(t *testing.T) {
			for i := range 5 {
				mustPut(t, b, fmt.Sprintf("dir/%d", i), want)
			}
			server.Inject(s3test.Fault{Op: s3test.GetObject, Kind: kind, Times: 1})
			wantContent(t, b, "dir/0", want)
			server.Inject(s3test.Fault{Op: s3test.HeadObject, Kind: kind, Times: 1})
			if err := b.ReadAt(within(t, soon), "dir/0", nil, 5); err != nil {
				t.Error(err)
			}
			server.Inject(s3test.Fault{Op: s3test.ListObjects, Kind: kind, Times: 1})
			if got := names(t, b, "dir"); len(got) != 5 {
				t.Errorf("listed %q", got)
			}
			server.Inject(s3test.Fault{Op: s3test.DeleteObjects, Kind: kind, Times: 1})
			all := names(t, b, "dir")
			if deleted, err := b.Delete(within(t, soon), all); err != nil || len(deleted) != 5 {
				t.Errorf("deleted %q, %v", deleted, err)
			}
			if n := server.Heal(); n != 0 {
				t.Errorf("%d faults are left: the test tested nothing", n)
			}
		})
	}
}

// Random faults over random operations: what Append says is stored is, what it says is another's is, and nothing is
// stored twice or torn.
func TestRandomFaults(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("WALBRIDGE_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("WALBRIDGE_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	server := startExpress(t, s3test.Options{})
	b := openExpress(t, server)
	kinds := []s3test.Kind{
		s3test.SlowDown, s3test.Internal, s3test.BadGateway, s3test.Conflict, s3test.Aborted, s3test.Reset, s3test.Lost,
		s3test.SentTwice,
	}
	for i := range 60 {
		name := fmt.Sprintf("random/%d/%d", i%3, i)
		want := [2][]byte{bytes.Repeat([]byte("a"), r.IntN(300_000)), bytes.Repeat([]byte("b"), r.IntN(300_000))}
		for range r.IntN(4) {
			op := []string{"", s3test.PutObject, s3test.HeadObject}[r.IntN(3)]
			server.Inject(s3test.Fault{Op: op, Kind: kinds[r.IntN(len(kinds))], Times: 1 + r.IntN(2)})
		}
		var errs [2]error
		var group sync.WaitGroup
		for j := range errs {
			group.Go(func() { errs[j] = put(within(t, soon), b, name, want[j]) })
		}
		group.Wait()
		server.Heal()
		winner := slices.Index(errs[:], nil)
		if winner < 0 || !errors.Is(errs[1-winner], backends.ErrExists) {
			t.Fatalf("%s: two creators got %v", name, errs)
		}
		wantContent(t, b, name, want[winner])
	}
}

// What does not end fails with the ctx, soon, and says why.
func TestPermanentFaults(t *testing.T) {
	server := startExpress(t, s3test.Options{})
	b := openExpress(t, server)
	for _, tc := range []struct {
		name string
		kind s3test.Kind
		want error
	}{
		{"slow down", s3test.SlowDown, backends.ErrThrottled},
		{"internal error", s3test.Internal, nil},
		{"hang", s3test.Hang, context.DeadlineExceeded},
		{"denied", s3test.Denied, backends.ErrDenied},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server.Inject(s3test.Fault{Op: s3test.PutObject, Kind: tc.kind, Times: -1})
			defer server.Heal()
			const allowed = time.Second
			before, start := server.Calls(s3test.PutObject), time.Now()
			err := put(within(t, allowed), b, "permanent/"+strings.ReplaceAll(tc.name, " ", "-"), []byte("p"))
			if err == nil || tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
			if !strings.Contains(err.Error(), "permanent/") {
				t.Errorf("%v does not name the object", err)
			}
			// Ten times what is allowed is a machine that does much else; without an end it would go on for ever.
			if d := time.Since(start); d > 10*allowed {
				t.Errorf("took %v", d)
			}
			if n := server.Calls(s3test.PutObject) - before; n > 10 {
				t.Errorf("%d requests in a second", n)
			}
		})
	}
}

// Bytes that are not the object's are never returned as if they were.
func TestReadFaults(t *testing.T) {
	server := startExpress(t, s3test.Options{})
	b := openExpress(t, server)
	want := bytes.Repeat([]byte("0123456789"), 10_000)
	mustPut(t, b, "a/whole", want)
	for name, tc := range map[string]struct {
		kind  s3test.Kind
		times int
		want  error
	}{
		"cut off":                   {s3test.Truncated, 1, nil},
		"always cut off":            {s3test.Truncated, -1, errUnknown},
		"a flipped bit":             {s3test.Flipped, 1, backends.ErrChecksum},
		"another range":             {s3test.WrongRange, 1, errUnknown},
		"a store without ranges":    {s3test.NoRange, 1, errUnknown},
		"a server error in between": {s3test.Internal, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			server.Inject(s3test.Fault{Op: s3test.GetObject, Kind: tc.kind, Times: tc.times})
			defer server.Heal()
			p := make([]byte, len(want))
			allowed := soon
			if tc.times < 0 {
				allowed = time.Second // It goes on until then.
			}
			err := b.ReadAt(within(t, allowed), "a/whole", p, 0)
			switch {
			case tc.want == errUnknown && err != nil:
				for _, claim := range []error{backends.ErrNotFound, backends.ErrRange, backends.ErrExists} {
					if errors.Is(err, claim) {
						t.Errorf("%v claims %v", err, claim)
					}
				}
			case !errors.Is(err, tc.want) || err == nil && !bytes.Equal(p, want):
				t.Errorf("other bytes, or %v, want %v", err, tc.want)
			}
		})
	}
}

// errUnknown stands for any error that claims nothing about the object.
var errUnknown = errors.New("unknown")

// A store that throttles sees fewer keys each time, and the caller gets every one that is gone.
func TestDeleteProgress(t *testing.T) {
	const n = 64
	for name, tc := range map[string]struct {
		fault s3test.Fault
		want  int // confirmed in the end
		err   error
	}{
		"throttled keys":     {s3test.Fault{Kind: s3test.Some, Times: 4}, n, nil},
		"keys left out":      {s3test.Fault{Kind: s3test.SomeForgotten, Times: 2}, n, nil},
		"denied keys":        {s3test.Fault{Kind: s3test.SomeDenied, Times: 1}, n / 2, backends.ErrDenied},
		"throttled for good": {s3test.Fault{Kind: s3test.SlowDown, Times: -1}, 0, backends.ErrThrottled},
	} {
		t.Run(name, func(t *testing.T) {
			server := startExpress(t, s3test.Options{})
			b := openExpress(t, server)
			all := make([]string, n)
			for i := range all {
				all[i] = fmt.Sprintf("gone/%d/%d", i%3, i)
				server.Store("wal/test/"+all[i], []byte("x"), nil)
			}
			tc.fault.Op = s3test.DeleteObjects
			server.Inject(tc.fault)
			deleted, err := b.Delete(within(t, 3*time.Second), all)
			if len(deleted) < tc.want || !errors.Is(err, tc.err) {
				t.Errorf("%d confirmed, %v; want %d, %v", len(deleted), err, tc.want, tc.err)
			}
			left := names(t, b, "gone")
			if len(left)+len(deleted) != n {
				t.Errorf("%d are left of %d, and %d confirmed", len(left), n, len(deleted))
			}
			for _, name := range deleted {
				if slices.Contains(left, name) {
					t.Errorf("%s is confirmed, and there", name)
				}
			}
		})
	}
}

// Sessions: one for a cold start of any width, two in each lifetime, and a new one where they are revoked.
func TestSessions(t *testing.T) {
	const life = 2 * time.Second
	server := startExpress(t, s3test.Options{SessionLife: life})
	o := options(server)
	o.WarmConnections = -1
	b := open(t, o)
	defer b.Close()
	var group sync.WaitGroup
	for i := range 64 {
		group.Go(func() {
			if err := put(within(t, soon), b, fmt.Sprintf("cold/%d", i), []byte("x")); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := server.Calls(s3test.CreateSession); n != 1 {
		t.Errorf("%d sessions for 64 cold writes, want 1", n)
	}
	i, start := 0, time.Now()
	for ; time.Since(start) < 3*life; i++ {
		mustPut(t, b, fmt.Sprintf("steady/%d", i), []byte("x"))
	}
	most := 1 + 2*int(time.Since(start)/life+1) // A busy machine makes the loop longer.
	if n := server.Calls(s3test.CreateSession); n < 2 || n > most {
		t.Errorf("%d sessions in %v, %d writes and lifetimes of %v; want 2 to %d", n, time.Since(start), i, life, most)
	}
	server.RevokeSessions()
	mustPut(t, b, "revoked", []byte("x"))
}

// A clock that is an hour off costs a request, not the zone.
func TestClockSkew(t *testing.T) {
	for _, skew := range []time.Duration{time.Hour, -time.Hour} {
		server := startExpress(t, s3test.Options{Skew: skew})
		b := openExpress(t, server)
		mustPut(t, b, "skewed", []byte("x"))
		wantContent(t, b, "skewed", []byte("x"))
	}
}

// A zone whose sessions are refused says so, also to a pool that asks for writers.
func TestSessionDenied(t *testing.T) {
	server := startExpress(t, s3test.Options{SessionLife: time.Second})
	server.Inject(s3test.Fault{Op: s3test.CreateSession, Kind: s3test.Denied, Times: -1})
	if _, err := s3.Open(within(t, 5*time.Second), options(server)); !errors.Is(err, backends.ErrDenied) {
		t.Errorf("Open: %v, want ErrDenied", err)
	}
	server.Heal()
	b := openExpress(t, server)
	server.Inject(s3test.Fault{Op: s3test.CreateSession, Kind: s3test.Denied, Times: -1})
	server.RevokeSessions()
	if err := put(within(t, 5*time.Second), b, "denied", []byte("x")); !errors.Is(err, backends.ErrDenied) {
		t.Errorf("Append: %v, want ErrDenied", err)
	}
	if _, err := b.Create(within(t, 5*time.Second), "denied"); !errors.Is(err, backends.ErrDenied) {
		t.Errorf("Create: %v, want ErrDenied", err)
	}
}

// Connections are there before the first write, and a burst finds them.
func TestWarmConnections(t *testing.T) {
	// A HEAD that takes a moment is under way together with the others.
	var heads atomic.Int32
	server := startExpress(t, s3test.Options{
		Latency: map[string]time.Duration{s3test.HeadBucket: 100 * time.Millisecond},
		Observe: func(op string, _, _ time.Time) {
			if op == s3test.HeadBucket {
				heads.Add(1)
			}
		},
	})
	o := options(server)
	o.WarmConnections = 8
	b := open(t, o)
	defer b.Close()
	// Those of the warming, and the one of Open. The reads that wait for them also leave time for the last connection to
	// become idle.
	for ctx, left := within(t, soon), true; left; {
		left = heads.Load() < 9
		if ctx.Err() != nil {
			t.Fatalf("%d connections, %d HEADs", server.Connections(), heads.Load())
		}
		mustHead(t, b)
	}
	before := server.Connections()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			if err := put(within(t, soon), b, fmt.Sprintf("burst/%d", i), []byte("x")); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	// The one that the waiting above used may be the ninth.
	if made := server.Connections() - before; made > 1 {
		t.Errorf("a burst of 8 writes made %d connections", made)
	}
}

func mustHead(t *testing.T, b *s3.Bucket) {
	t.Helper()
	if err := b.ReadAt(within(t, soon), "none", nil, 0); !errors.Is(err, backends.ErrNotFound) {
		t.Fatal(err)
	}
}

// Objects carry what the URL says, and the store's own; keys that cannot be names are not listed.
func TestMetadataAndForeignKeys(t *testing.T) {
	server := startExpress(t, s3test.Options{})
	b := open(t, parse(t, fmt.Sprintf("s3://%s/wal/test/?region=%s&endpoint=%s&meta.cluster=c1&meta.broker=7",
		server.Bucket(), s3test.Region, server.URL())))
	defer b.Close()
	mustPut(t, b, "dir/object", []byte("x"))
	for _, key := range []string{"wal/test/dir/", "wal/test/dir/.hidden", "wal/testing/dir/object", "dir/object"} {
		server.Store(key, []byte("foreign"), nil)
	}
	if got := names(t, b, ""); !slices.Equal(got, []string{"dir/object"}) {
		t.Errorf("listed %q", got)
	}
	_, metadata, ok := server.Object("wal/test/dir/object")
	if !ok || metadata.Get("X-Amz-Meta-Cluster") != "c1" || metadata.Get("X-Amz-Meta-Broker") != "7" ||
		len(metadata.Get("X-Amz-Meta-Walbridge")) != len("01ARZ3NDEKTSV4RRFFQ69G5FAV-00000000") {
		t.Errorf("metadata %v", metadata)
	}
}

// An object that another program stored is read, though nothing says what its bytes should be.
func TestForeignObject(t *testing.T) {
	server := startExpress(t, s3test.Options{})
	b := openExpress(t, server)
	server.Store("wal/test/foreign", []byte("bytes"), http.Header{})
	wantContent(t, b, "foreign", []byte("bytes"))
}

// The log says who we are, where that comes from, and nothing secret.
func TestIdentityIsLogged(t *testing.T) {
	server := startExpress(t, s3test.Options{})
	var log bytes.Buffer
	o := options(server)
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	b := open(t, o)
	mustPut(t, b, "a", []byte("x"))
	b.Close()
	text := log.String()
	if strings.Count(text, s3test.AccessKey) != 1 || !strings.Contains(text, "EnvConfigCredentials") {
		t.Errorf("the identity and its source are not in the log once:\n%s", text)
	}
	if strings.Contains(text, s3test.SecretKey) {
		t.Errorf("the log has a secret:\n%s", text)
	}
}

// Close ends everything.
func TestCloseLeavesNothing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	environment(t, s3test.AccessKey, s3test.SecretKey)
	server, err := s3test.Start(s3test.Options{Complain: t.Errorf})
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, options(server))
	mustPut(t, b, "a", []byte("x"))
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	server.Close()
}

// A request that is not right fails its test.
func TestFakeComplains(t *testing.T) {
	environment(t, s3test.AccessKey, s3test.SecretKey)
	var complaints []string
	var mu sync.Mutex
	server, err := s3test.Start(s3test.Options{Complain: func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		complaints = append(complaints, fmt.Sprintf(format, args...))
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for _, tc := range []struct{ method, path, want string }{
		{http.MethodPut, "/" + server.Bucket() + "/key", "no date"},
		{http.MethodPost, "/" + server.Bucket(), "no date"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tc.method, server.URL()+tc.path, strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		mu.Lock()
		if answer.StatusCode != http.StatusForbidden || !strings.Contains(strings.Join(complaints, "\n"), tc.want) {
			t.Errorf("%s %s: %d, complaints %q", tc.method, tc.path, answer.StatusCode, complaints)
		}
		complaints = nil
		mu.Unlock()
	}
}
