package walend_test

import (
	"slices"
	"testing"

	"github.com/walbridge/walbridge/integration/walend"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
)

func entry(epoch int32, base, last int64, lineage ...*framev1.EpochStart) *framev1.Entry {
	return &framev1.Entry{Restorable: true, LeaderEpoch: epoch, BaseOffset: base, LastOffset: last, Lineage: lineage}
}

func starts(epoch int32, offset int64) *framev1.EpochStart {
	return &framev1.EpochStart{Epoch: epoch, StartOffset: offset}
}

func TestOf(t *testing.T) {
	e0 := starts(0, 0)
	tests := []struct {
		name    string
		start   int64
		entries []*framev1.Entry
		want    int64
	}{
		{"nothing stored", 7, nil, 7},
		{"contiguous", 0, []*framev1.Entry{entry(0, 0, 4, e0), entry(0, 5, 9, e0)}, 10},
		{"a gap", 0, []*framev1.Entry{entry(0, 0, 4, e0), entry(0, 6, 9, e0)}, 5},
		{"a gap at the start", 0, []*framev1.Entry{entry(0, 1, 4, e0)}, 0},
		{"the log starts within an entry", 3, []*framev1.Entry{entry(0, 0, 4, e0)}, 5},
		{"all below the log start", 9, []*framev1.Entry{entry(0, 0, 4, e0)}, 9},
		{"duplicates and overlaps", 0, []*framev1.Entry{entry(0, 0, 4, e0), entry(0, 0, 4, e0), entry(0, 3, 9, e0),
			entry(0, 1, 2, e0)}, 10},
		{"an epoch follows", 0, []*framev1.Entry{entry(0, 0, 4, e0), entry(2, 5, 9, e0, starts(2, 5))}, 10},
		{"a deposed leader's tail does not count", 0, []*framev1.Entry{entry(0, 0, 9, e0),
			entry(1, 5, 6, e0, starts(1, 5))}, 7},
		{"a deposed leader's tail fills no gap", 0, []*framev1.Entry{entry(0, 0, 9, e0),
			entry(1, 6, 9, e0, starts(1, 5))}, 5},
		{"an earlier epoch has a gap", 0, []*framev1.Entry{entry(0, 0, 2, e0),
			entry(1, 5, 9, e0, starts(1, 5))}, 3},
		{"a later leader stored an earlier epoch", 0, []*framev1.Entry{entry(3, 0, 4, e0, starts(3, 5)),
			entry(3, 5, 9, e0, starts(3, 5))}, 10},
		{"the newest lineage is that of the later entry", 0, []*framev1.Entry{entry(0, 0, 6, e0),
			entry(3, 0, 4, e0, starts(3, 5)), entry(3, 5, 9, e0, starts(3, 5)), entry(3, 0, 6, e0)}, 10},
		{"the log starts in a later epoch", 6, []*framev1.Entry{entry(1, 6, 9, e0, starts(1, 5))}, 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 { // entries come in any order
				if got := walend.Of(tt.start, tt.entries); got != tt.want {
					t.Errorf("WAL end = %d, want %d", got, tt.want)
				}
				slices.Reverse(tt.entries)
			}
		})
	}
}
