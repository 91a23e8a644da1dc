package backendtest

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/walbridge/walbridge/backends"
)

func listRecursive(t testing.TB, b backends.Bucket) {
	wantList(t, b, "")
	wantList(t, b, "list")
	names := []string{"top", "list/a", "list/b", "list/c/d", "list/c/e/f/g", "list/c/e/f/h", "other/a"}
	for i, name := range names {
		put(t, b, name, pattern(name, 1+i))
	}
	wantList(t, b, "", names...)
	wantList(t, b, "list", names[1:6]...)
	wantList(t, b, "list/c", names[3:6]...)
	wantList(t, b, "list/c/e", names[4:6]...)
	wantList(t, b, "list/c/e/f", names[4:6]...)
	wantList(t, b, "list/x")
	wantList(t, b, "x/y/z")
}

// A directory is whole parts of a name, and an object is not below itself.
func listBoundaries(t testing.TB, b backends.Bucket) {
	for _, name := range []string{"list/b/a", "list/bc/a", "list/b-/a", "list/b.x", "list/B/a", "list/a"} {
		put(t, b, name, pattern(name, 10))
	}
	wantList(t, b, "list/b", "list/b/a")
	wantList(t, b, "list/bc", "list/bc/a")
	wantList(t, b, "lis")
	wantList(t, b, "list/a")
	wantList(t, b, "list/a/b")
}

// More objects than any store's page holds.
func listMany(t testing.TB, b backends.Bucket) {
	const dirs = 3
	n := 1100
	if testing.Short() {
		n = 60
	}
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("list/%d/%05d", i%dirs, i)
	}
	var group sync.WaitGroup
	for part := range slices.Chunk(names, (n+15)/16) {
		group.Go(func() {
			for _, name := range part {
				if err := createAndAppend(deadline(t), b, name, []byte(name)); err != nil {
					t.Errorf("create %s: %v", name, err)
				}
			}
		})
	}
	group.Wait()
	got := list(t, b, "list")
	slices.Sort(names)
	if !slices.Equal(got, names) {
		t.Errorf("List names %d objects, want the %d that are there", len(got), n)
	}
	wantDeleted(t, b, names...)
	wantList(t, b, "")
}

func listStop(t testing.TB, b backends.Bucket) {
	for i := range 5 {
		put(t, b, fmt.Sprintf("list/%d", i), pattern("p", 10))
	}
	seq := b.List(deadline(t), "list")
	for range 2 { // a sequence can be ranged over again
		n := 0
		for _, err := range seq {
			if err != nil {
				t.Fatalf("List: %v", err)
			}
			if n++; n == 2 {
				break
			}
		}
	}
	wantList(t, b, "list", "list/0", "list/1", "list/2", "list/3", "list/4")
}

// Deleting what is being listed, as the retention does, neither blocks nor fails the listing, and hides nothing else.
func listDeleteDuring(t testing.TB, b backends.Bucket) {
	const n = 40
	var want []string
	for i := range n {
		name := fmt.Sprintf("list/%d/%02d", i%4, i)
		put(t, b, name, pattern("p", 10))
		want = append(want, name)
	}
	var got []string
	for o, err := range b.List(deadline(t), "list") {
		if err != nil {
			t.Fatalf("List while its objects are deleted: %v", err)
		}
		got = append(got, o.Name)
		wantDeleted(t, b, o.Name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if got := slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("List while the listed objects are deleted = %q, want %q", got, want)
	}
	wantList(t, b, "")
}
