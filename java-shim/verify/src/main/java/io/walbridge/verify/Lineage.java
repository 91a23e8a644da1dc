// SPDX-License-Identifier: Apache-2.0
package io.walbridge.verify;

import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The leader epochs by which a reader of the WAL tells what is the log and what Kafka has truncated from it, as
 * docs/format.md has it: those of the newest entry.
 */
final class Lineage {
    private final NavigableMap<Integer, Long> starts;

    private Lineage(NavigableMap<Integer, Long> starts) {
        this.starts = starts;
    }

    static Lineage newest(List<RemoteWalLogSegmentMetadata> entries) {
        return new Lineage(entries.stream()
                .max(Comparator.comparingInt(RemoteWalLogSegmentMetadata::leaderEpoch)
                        .thenComparingLong(RemoteWalLogSegmentMetadata::endOffset))
                .map(RemoteWalLogSegmentMetadata::segmentLeaderEpochs).orElseGet(TreeMap::new));
    }

    /** The epoch of an entry's batches: the last of its lineage that starts no later than they do; -1 for none. */
    static int batchEpoch(RemoteWalLogSegmentMetadata entry) {
        return entry.segmentLeaderEpochs().entrySet().stream()
                .filter(epoch -> epoch.getValue() <= entry.startOffset())
                .mapToInt(Map.Entry::getKey).max().orElse(-1);
    }

    /** Whether a batch of the epoch is the log's: it lies between the epoch's start and the next one's. */
    boolean holds(int epoch, long baseOffset, long lastOffset) {
        Long start = starts.get(epoch);
        Map.Entry<Integer, Long> next = starts.higherEntry(epoch);
        // The first epoch's start moves with the log start, perhaps into a batch.
        return start != null && (start <= baseOffset || epoch == starts.firstKey() && start <= lastOffset)
                && (next == null || lastOffset < next.getValue());
    }

    /** The start offset of an epoch; null where there is no such epoch. */
    Long start(int epoch) {
        return starts.get(epoch);
    }
}
