// Package backendtest is the conformance suite of the stores: one check for every obligation of package backends. A
// store, a decorator and the quorum each run it; one that passes can take another's place.
//
//	func TestConformance(t *testing.T) {
//		backendtest.Run(t, func(t *testing.T) backends.Bucket { return mem.New(mem.Options{}) })
//	}
//
// Stores differ in three ways that the contract allows, and the suite follows what it finds: how many Appends an object
// takes and how long they are (Caps), whether an object exists before its first Append, and whether ErrExists surfaces
// at Create or at the first Append.
package backendtest

import (
	"context"
	"testing"
	"time"

	"github.com/walbridge/walbridge/backends"
)

// patience bounds a whole check, so that a store that ignores its ctx fails its check before the test binary's timeout
// takes every other result with it.
const patience = 2 * time.Minute

// check is one obligation. It takes a testing.TB so that the suite's own test can watch it fail.
type check struct {
	name string
	run  func(testing.TB, backends.Bucket)
}

var checks = []check{
	{"Create/Exists", createExists},
	{"Create/ExistsEmpty", createExistsEmpty},
	{"Create/Concurrent", createConcurrent},
	{"Create/Empty", createEmpty},
	{"Create/OutlivesCtx", createOutlivesCtx},
	{"Append/Readable", appendReadable},
	{"Append/Many", appendMany},
	{"Append/Large", appendLarge},
	{"Append/Checksum", appendChecksum},
	{"Append/Untouched", appendUntouched},
	{"Append/AfterClose", appendAfterClose},
	{"Append/AfterDelete", appendAfterDelete},
	{"Append/TooMany", appendTooMany},
	{"Append/TooLarge", appendTooLarge},
	{"ReadAt/Range", readRange},
	{"ReadAt/NotFound", readNotFound},
	{"ReadAt/Confined", readConfined},
	{"List/Recursive", listRecursive},
	{"List/Boundaries", listBoundaries},
	{"List/Many", listMany},
	{"List/Stop", listStop},
	{"List/DeleteDuring", listDeleteDuring},
	{"Delete/Gone", deleteGone},
	{"Delete/Directory", deleteDirectory},
	{"Delete/Many", deleteMany},
	{"Names/Invalid", namesInvalid},
	{"Names/Valid", namesValid},
	{"Ctx/Ended", ctxEnded},
	{"Caps/Constant", capsConstant},
	{"Concurrency", concurrency},
}

// Run checks the Buckets that open returns. Each check opens one, which has to be empty, and closes it.
func Run(t *testing.T, open func(t *testing.T) backends.Bucket) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			b := open(t)
			c.run(t, b)
			if err := b.Close(); err != nil {
				t.Errorf("Close of the Bucket: %v", err)
			}
		})
	}
}

func capsConstant(t testing.TB, b backends.Bucket) {
	before := b.Caps()
	if before.Appends < 1 || before.MaxAppend < 1 {
		t.Fatalf("Caps() = %+v: a store takes at least one Append of at least one byte", before)
	}
	put(t, b, "caps/a", pattern("a", 10))
	if after := b.Caps(); after != before {
		t.Errorf("Caps() = %+v, then %+v", before, after)
	}
}

// deadline returns a ctx for one check.
func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}
