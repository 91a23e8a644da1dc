// Package walend works out how far the stored entries of a partition reach without a gap.
package walend

import (
	"cmp"
	"math"
	"slices"

	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
)

// Of returns the first offset from start on that the entries, all of one partition and topic id, do not hold. An offset
// is held by an entry whose batches are of the leader epoch that owns the offset, in the lineage of the newest entry;
// what was truncated since does not count. Duplicates and overlaps are legal.
func Of(start int64, entries []*framev1.Entry) int64 {
	lineage := newestLineage(entries)
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b *framev1.Entry) int {
		return cmp.Compare(a.BaseOffset, b.BaseOffset)
	})
	end := start
	for i, epoch := range lineage {
		limit := int64(math.MaxInt64)
		if i+1 < len(lineage) {
			limit = lineage[i+1].StartOffset
		}
		if limit <= end {
			continue
		}
		end = min(extend(end, epoch.Epoch, sorted), limit)
		if end < limit {
			break
		}
	}
	return end
}

// extend moves end over the entries of the epoch, sorted by base offset, for as long as they leave no gap.
func extend(end int64, epoch int32, sorted []*framev1.Entry) int64 {
	for _, e := range sorted {
		if batchEpoch(e) != epoch || e.LastOffset < end {
			continue
		}
		if e.BaseOffset > end {
			break
		}
		end = e.LastOffset + 1
	}
	return end
}

func newestLineage(entries []*framev1.Entry) []*framev1.EpochStart {
	var newest *framev1.Entry
	for _, e := range entries {
		if e.Restorable && (newest == nil || newer(e, newest)) {
			newest = e
		}
	}
	return newest.GetLineage()
}

func newer(a, b *framev1.Entry) bool {
	return cmp.Or(cmp.Compare(a.LeaderEpoch, b.LeaderEpoch), cmp.Compare(a.LastOffset, b.LastOffset)) > 0
}

// batchEpoch is the epoch that the entry's batches were written in, which may be older than that of the leader that
// stored them; -1 where it has none.
func batchEpoch(e *framev1.Entry) int32 {
	epoch := int32(-1)
	for _, started := range e.Lineage {
		if started.StartOffset <= e.BaseOffset {
			epoch = started.Epoch
		}
	}
	return epoch
}
