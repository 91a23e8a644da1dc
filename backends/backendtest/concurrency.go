package backendtest

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/walbridge/walbridge/backends"
)

// Writers, readers, listings and deletes at once, for the race detector and for what they disturb in each other. A
// reader is told how much is durable and has to find exactly that.
func concurrency(t testing.TB, b backends.Bucket) {
	const writers, objects = 4, 4
	ctx := deadline(t)
	durable := make(chan []byte) // each is the content of the object named by its first line
	var writing, reading sync.WaitGroup
	for i := range writers {
		writing.Go(func() {
			for j := range objects {
				name := fmt.Sprintf("concurrency/%d/%d/%d", j%2, i, j)
				w, err := b.Create(ctx, name)
				if err != nil {
					t.Errorf("Create(%s): %v", name, err)
					return
				}
				content := []byte(name + "\n")
				if err := appendTo(ctx, w, content); err != nil {
					t.Errorf("Append to %s: %v", name, err)
				}
				durable <- content
				for k := range min(b.Caps().Appends-1, 3) {
					p := pattern(fmt.Sprint(name, k), 1000)
					if err := appendTo(ctx, w, p); err != nil {
						t.Errorf("Append to %s: %v", name, err)
					}
					content = append(bytes.Clone(content), p...)
					durable <- content
				}
				if err := w.Close(ctx); err != nil {
					t.Errorf("Close of the Writer of %s: %v", name, err)
				}
			}
		})
	}
	for i := range 2 {
		reading.Go(func() {
			other := fmt.Sprintf("concurrency/1/deleted%d", i)
			for content := range durable {
				name, _, _ := bytes.Cut(content, []byte("\n"))
				got := make([]byte, len(content))
				if err := b.ReadAt(ctx, string(name), got, 0); err != nil || !bytes.Equal(got, content) {
					t.Errorf("ReadAt(%s) of %d durable bytes: wrong bytes, or error %v", name, len(content), err)
				}
				if err := createAndAppend(ctx, b, other, content); err != nil {
					t.Errorf("create %s: %v", other, err)
				}
				listed := false
				for o, err := range b.List(ctx, "concurrency") {
					if err != nil {
						t.Errorf("List during writes: %v", err)
					}
					listed = listed || o.Name == string(name)
				}
				if !listed {
					t.Errorf("List during writes leaves %s out", name)
				}
				if _, err := b.Delete(ctx, []string{other}); err != nil {
					t.Errorf("Delete(%s): %v", other, err)
				}
			}
		})
	}
	writing.Wait()
	close(durable)
	reading.Wait()
	if got, want := len(list(t, b, "")), writers*objects; got != want {
		t.Errorf("%d objects in the end, want %d", got, want)
	}
}
