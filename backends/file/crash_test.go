package file_test

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

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/file"
	"go.uber.org/goleak"
)

// appenderDir, where it is set, makes the test binary the process that TestKilled kills.
const appenderDir = "WALBRIDGE_TEST_APPENDER_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(appenderDir); dir != "" {
		fmt.Println(appendForever(context.Background(), dir))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// appendForever tells of every Append that is durable: the object and its length.
func appendForever(ctx context.Context, dir string) error {
	b, err := file.Open(ctx, dir)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		name := fmt.Sprintf("object/%d", i)
		w, err := b.Create(ctx, name)
		if err != nil {
			return err
		}
		for end := 0; end < 1<<20; {
			p := bytesOf(name, 1<<21)[end : end+1+rand.IntN(1<<18)]
			if err := w.Append(ctx, p, backends.Checksum(p)); err != nil {
				return err
			}
			end += len(p)
			fmt.Println(name, end)
		}
		if err := w.Close(ctx); err != nil {
			return err
		}
	}
}

// bytesOf returns the first n bytes that are appended to an object.
func bytesOf(name string, n int) []byte {
	p := make([]byte, n)
	var key [32]byte
	copy(key[:], name)
	rand.NewChaCha8(key).Read(p)
	return p
}

// A process is killed in the middle of an Append: what it was told is durable can be read, and what follows is a piece
// of what it was appending.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), appenderDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	durable := make(map[string]int)
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		var name string
		var end int
		if _, err := fmt.Sscan(lines.Text(), &name, &end); err != nil {
			t.Fatalf("the process says %q", lines.Text())
		}
		durable[name] = end
		if n == 50 {
			cmd.Process.Kill() // and read on: it may have told of more
		}
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the process ended with %v, want it killed", err)
	}
	b := open(t, dir)
	for name, end := range durable {
		got := make([]byte, end)
		if err := b.ReadAt(t.Context(), name, got, 0); err != nil || !bytes.Equal(got, bytesOf(name, end)) {
			t.Errorf("%s: of %d durable bytes not all are readable, error %v", name, end, err)
		}
	}
	for o, err := range b.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, o.Size)
		if err := b.ReadAt(t.Context(), o.Name, got, 0); err != nil || !bytes.Equal(got, bytesOf(o.Name, int(o.Size))) {
			t.Errorf("%s: its %d bytes are not those that were appended, error %v", o.Name, o.Size, err)
		}
	}
}
