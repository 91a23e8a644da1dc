package backendtest

import (
	"fmt"
	"testing"

	"github.com/walbridge/walbridge/backends"
)

func deleteGone(t testing.TB, b backends.Bucket) {
	wantDeleted(t, b)
	wantDeleted(t, b, "delete/a", "delete/b/c") // never there
	put(t, b, "delete/a", pattern("a", 10))
	put(t, b, "delete/ab", pattern("ab", 10))
	put(t, b, "delete/b/c", pattern("c", 10))
	wantDeleted(t, b, "delete/a", "delete/x", "delete/b/c", "delete/a")
	wantMissing(t, b, "delete/a")
	wantMissing(t, b, "delete/b/c")
	wantContent(t, b, "delete/ab", pattern("ab", 10))
	wantList(t, b, "", "delete/ab")
	wantDeleted(t, b, "delete/a") // again
	wantDeleted(t, b, "delete/ab")
	put(t, b, "delete/d/e", pattern("e", 10)) // the directory serves again
	wantContent(t, b, "delete/d/e", pattern("e", 10))
	wantList(t, b, "", "delete/d/e")
}

// A directory is no object: deleting its name deletes nothing.
func deleteDirectory(t testing.TB, b backends.Bucket) {
	const name = "delete/a/b"
	put(t, b, name, pattern(name, 10))
	wantDeleted(t, b, "delete", "delete/a", "delete/a/b/c")
	wantContent(t, b, name, pattern(name, 10))
	wantList(t, b, "", name)
}

func deleteMany(t testing.TB, b backends.Bucket) {
	const n = 50
	var even []string
	var odd []string
	for i := range n {
		name := fmt.Sprintf("delete/%d/%02d", i%3, i)
		put(t, b, name, pattern(name, 10))
		if i%2 == 0 {
			even = append(even, name)
		} else {
			odd = append(odd, name)
		}
	}
	wantDeleted(t, b, even...)
	wantList(t, b, "delete", odd...)
	for _, name := range odd {
		wantContent(t, b, name, pattern(name, 10))
	}
}
