package s3_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/walbridge/walbridge/backends/s3"
)

// childZone in the environment makes the test binary a client that is killed: it appends objects to that zone.
const childZone = "WALBRIDGE_TEST_CHILD_ZONE"

func TestMain(m *testing.M) {
	if zone := os.Getenv(childZone); zone != "" {
		fmt.Println("failed", appendForEver(zone))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

const killedBytes = 8 << 20

// killedContent is what the object with the number has in it.
func killedContent(n int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "%016d", n), killedBytes/16)
}

func appendForEver(zone string) error {
	ctx := context.Background()
	o, err := s3.ParseURL(zone)
	if err != nil {
		return err
	}
	b, err := s3.Open(ctx, o)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		fmt.Println("start", n)
		if err := put(ctx, b, fmt.Sprintf("killed/%d", n), killedContent(n)); err != nil {
			return err
		}
		fmt.Println("stored", n)
	}
}

// A client that is killed in the middle of a PUT leaves no object, or a whole one; and every one that it had an answer
// for.
func TestKilledClient(t *testing.T) {
	server := startVersitygw(t, "zone-a")
	for round := range 8 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			zone := zoneURL("zone-a", fmt.Sprintf("round/%d", round), server.URL())
			stored := runAndKill(t, zone, 1+round%3, rand.N(30*time.Millisecond))
			b := open(t, parse(t, zone))
			defer b.Close()
			found := map[string]bool{}
			for o, err := range b.List(within(t, soon), "killed") {
				if err != nil {
					t.Fatal(err)
				}
				found[o.Name] = true
				var n int
				if _, err := fmt.Sscanf(o.Name, "killed/%d", &n); err != nil || o.Size != killedBytes {
					t.Errorf("%s has %d bytes", o.Name, o.Size)
					continue
				}
				wantContent(t, b, o.Name, killedContent(n))
			}
			for n := range stored {
				if name := fmt.Sprintf("killed/%d", n); !found[name] {
					t.Errorf("%s was stored, and is not there", name)
				}
			}
		})
	}
}

// runAndKill runs the client, kills it a while after it started the n-th object, and returns how many it has stored.
func runAndKill(t *testing.T, zone string, n int, after time.Duration) (stored int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(within(t, time.Minute), self)
	child.Env = append(os.Environ(), childZone+"="+zone)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		switch line := lines.Text(); {
		case line == fmt.Sprint("start ", n):
			timer := time.AfterFunc(after, func() { _ = child.Process.Kill() })
			defer timer.Stop()
		case strings.HasPrefix(line, "stored"):
			stored++
		case strings.HasPrefix(line, "failed"):
			t.Fatal(line)
		}
	}
	_ = child.Wait() // killed
	if stored < n {
		t.Fatalf("stored %d objects before the kill, want %d at least", stored, n)
	}
	return stored
}
