// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;

import java.util.Map;
import java.util.NavigableMap;

/**
 * How far a log was stored once. It tells of the WAL, not of the log: the log may have been truncated since.
 *
 * @param section a section that was stored then; its leader epochs are the lineage that the log had
 * @param offset where the upload had got to: everything below was stored, but for what it skipped
 */
record StoredEnd(RemoteWalLogSegmentMetadata section, long offset) {
    TopicIdPartition id() {
        return section.topicIdPartition();
    }

    /**
     * How far the content of a log as it is now is stored. Two logs that both hold batches of a leader epoch agree on
     * everything up to where the first of them ends that epoch (Kafka's log matching), so the last common epoch
     * decides. What lies beyond has been truncated since, and perhaps written anew.
     */
    long within(NavigableMap<Integer, Long> now, long logStartOffset, long logEndOffset) {
        NavigableMap<Integer, Long> lineage = section.segmentLeaderEpochs();
        for (int epoch : lineage.descendingKeySet()) {
            if (now.containsKey(epoch)) {
                long common = Math.min(endOf(epoch, lineage, offset), endOf(epoch, now, logEndOffset));
                return Math.max(logStartOffset, Math.min(offset, common));
            }
        }
        return logStartOffset;
    }

    private static long endOf(int epoch, NavigableMap<Integer, Long> lineage, long logEnd) {
        Map.Entry<Integer, Long> next = lineage.higherEntry(epoch);
        return next == null ? logEnd : next.getValue();
    }
}
