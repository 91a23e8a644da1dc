// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.Uuid;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.NavigableMap;

/**
 * A partition that this broker leads, in one leader epoch, with one log. Equal to another where partition, log and
 * epoch are the same. Thread-safe.
 */
public interface LedPartition {
    /**
     * Whole record batches of this leader epoch at the log's end, where they are in the log's file.
     *
     * @param records Kafka's FileRecords
     * @param end the offset after the last batch
     * @param maxTimestamp at least the largest of the records' timestamps
     */
    record Appended(Object records, int sizeInBytes, long end, long maxTimestamp) {}

    TopicIdPartition id();

    int leaderEpoch();

    /**
     * Whether this broker has led the partition without a break since this object was made. While it does, the log is
     * not truncated: bytes that were read before a call that returns true are the log's.
     */
    boolean stillLed();

    long logStartOffset();

    long logEndOffset();

    /** The bytes of the log from offset to its end; all of them where the log starts later. */
    long bytesFrom(long offset);

    /** Whether other brokers have or get a replica. */
    boolean replicated();

    /**
     * Reads from the batch that holds offset on, at most maxBytes, but at least one whole batch. The last batch may be
     * cut off. The bytes are a copy; none where offset is the log's end.
     *
     * @throws org.apache.kafka.common.errors.OffsetOutOfRangeException where offset is not in the log
     */
    ByteBuffer read(long offset, int maxBytes) throws IOException;

    /**
     * What has been appended from offset on, without reading it. Null where that is more than maxBytes, or where the
     * last read or call of this did not come to the log's end at offset, or where the log does not simply go on.
     */
    Appended appended(long offset, int maxBytes);

    /** Has listener called after every append, on the thread that appends; there is one listener of a partition. */
    void onAppend(Runnable listener);

    /** Ends that, if listener is still the one. */
    void removeOnAppend(Runnable listener);

    /** The start offset of every leader epoch of the log. */
    NavigableMap<Integer, Long> lineage();

    /** The id of the log directory that holds the log. */
    Uuid logDirId();

    int segmentBytes();

    boolean compacted();
}
