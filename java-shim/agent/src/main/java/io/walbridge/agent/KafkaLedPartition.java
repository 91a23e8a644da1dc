// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.TopicConfig;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.NavigableMap;
import java.util.Objects;

/** A kafka.cluster.Partition and its UnifiedLog, through handles. */
final class KafkaLedPartition implements LedPartition {
    private final Hooks hooks;
    private final Object partition;
    private final Object log;
    private final TopicIdPartition id;
    private final int leaderEpoch;
    private volatile ReadEnd readEnd;

    KafkaLedPartition(Hooks hooks, Object partition, Object log, TopicIdPartition id, int leaderEpoch) {
        this.hooks = hooks;
        this.partition = partition;
        this.log = log;
        this.id = id;
        this.leaderEpoch = leaderEpoch;
    }

    @Override
    public TopicIdPartition id() {
        return id;
    }

    @Override
    public int leaderEpoch() {
        return leaderEpoch;
    }

    /**
     * Kafka sets leader and epoch one after the other, so neither alone tells. An epoch never comes back: if it is the
     * same before and after, whoever led in between led in it.
     */
    @Override
    public boolean stillLed() {
        try {
            return (int) hooks.getLeaderEpoch.invokeExact(partition) == leaderEpoch
                    && (boolean) hooks.isLeader.invokeExact(partition)
                    && (int) hooks.getLeaderEpoch.invokeExact(partition) == leaderEpoch;
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    @Override
    public long logStartOffset() {
        try {
            return (long) hooks.logStartOffset.invokeExact(log);
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    @Override
    public long logEndOffset() {
        try {
            return (long) hooks.logEndOffset.invokeExact(log);
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    @Override
    public long bytesFrom(long offset) {
        try {
            Object at = (Object) hooks.offsetMetadata.invokeExact(log, offset);
            long segment = (long) hooks.segmentBaseOffset.invokeExact(at);
            long bytes = -Math.max(0, (int) hooks.positionInSegment.invokeExact(at));
            for (Object each : (Collection<?>) (Object) hooks.logSegments.invokeExact(log)) {
                if ((long) hooks.baseOffset.invokeExact(each) >= segment) {
                    bytes += (int) hooks.segmentSize.invokeExact(each);
                }
            }
            return Math.max(0, bytes);
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    @Override
    public boolean replicated() {
        try {
            Object others = (Object) hooks.remoteReplicas.invokeExact(partition);
            return !(boolean) hooks.isEmpty.invokeExact(others);
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    @Override
    public ByteBuffer read(long offset, int maxBytes) throws IOException {
        try {
            ReadEnd before = readEnd;
            ByteBuffer bytes = before == null ? null : readOn(before, offset, maxBytes);
            return bytes == null ? find(offset, maxBytes) : bytes;
        } catch (IOException e) {
            throw e;
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    /**
     * Where a read came to the log's end, at offset.
     *
     * @param records what it got, a slice of the segment's file, and at which position of the file that begins
     */
    private record ReadEnd(Object records, int begin, long segment, int position, long offset) {
        ReadEnd movedTo(Hooks hooks, Object end) throws Throwable {
            return new ReadEnd(records, begin, segment, (int) hooks.positionInSegment.invokeExact(end),
                    (long) hooks.messageOffset.invokeExact(end));
        }
    }

    @Override
    public Appended appended(long offset, int maxBytes) {
        try {
            ReadEnd from = readEnd;
            Object end = (Object) hooks.logEndOffsetMetadata.invokeExact(log);
            int size = grown(from, end, offset, maxBytes);
            Object segment = (Object) hooks.activeSegment.invokeExact(log);
            if (size == 0 || (long) hooks.baseOffset.invokeExact(segment) != from.segment) {
                return null;
            }
            Object records = (Object) hooks.segmentLog.invokeExact(segment);
            Object slice = (Object) hooks.slice.invokeExact(records, from.position, size);
            long maxTimestamp = (long) hooks.largestTimestamp.invokeExact(segment);
            readEnd = from.movedTo(hooks, end);
            return new Appended(slice, size, readEnd.offset, maxTimestamp);
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    /**
     * Reads what has been appended since the last read. Kafka looks a position up by reading batch headers, some
     * system calls each, which costs more than the bytes. Null where the log does not simply go on.
     */
    private ByteBuffer readOn(ReadEnd from, long offset, int maxBytes) throws Throwable {
        Object end = (Object) hooks.logEndOffsetMetadata.invokeExact(log);
        int size = grown(from, end, offset, maxBytes);
        if (size == 0) {
            return null;
        }
        ByteBuffer bytes = ByteBuffer.allocate(size);
        hooks.readInto.invokeExact(from.records, (Object) bytes, from.position - from.begin);
        if (bytes.remaining() < size || bytes.getLong(0) != offset) {
            return null;
        }
        readEnd = from.movedTo(hooks, end);
        return bytes;
    }

    /** How many bytes the segment has got since a read came to its end at offset; 0 where that is not how it is. */
    private int grown(ReadEnd from, Object end, long offset, int maxBytes) throws Throwable {
        if (from == null || offset != from.offset
                || (long) hooks.segmentBaseOffset.invokeExact(end) != from.segment) {
            return 0;
        }
        int size = (int) hooks.positionInSegment.invokeExact(end) - from.position;
        return size > 0 && size <= maxBytes ? size : 0;
    }

    private ByteBuffer find(long offset, int maxBytes) throws Throwable {
        readEnd = null;
        Object toLogEnd = (Object) hooks.readToLogEnd.invokeExact();
        Object fetched = (Object) hooks.read.invokeExact(log, offset, maxBytes, toLogEnd, true);
        Object records = (Object) hooks.fetchedRecords.invokeExact(fetched);
        if (!hooks.fileRecords.isInstance(records)) {
            return ByteBuffer.allocate(0); // Kafka's MemoryRecords.EMPTY: nothing from offset on.
        }
        ByteBuffer bytes = ByteBuffer.allocate((int) hooks.sizeInBytes.invokeExact(records));
        hooks.readInto.invokeExact(records, (Object) bytes, 0);
        Object from = (Object) hooks.fetchedFrom.invokeExact(fetched);
        int begin = (int) hooks.positionInSegment.invokeExact(from);
        long segment = (long) hooks.segmentBaseOffset.invokeExact(from);
        Object end = (Object) hooks.logEndOffsetMetadata.invokeExact(log);
        int position = (int) hooks.positionInSegment.invokeExact(end);
        if (segment == (long) hooks.segmentBaseOffset.invokeExact(end) && begin + bytes.remaining() == position) {
            readEnd = new ReadEnd(records, begin, segment, position, (long) hooks.messageOffset.invokeExact(end));
        }
        return bytes;
    }

    @Override
    public void onAppend(Runnable listener) {
        BrokerEvents.onAppend(partition, listener);
    }

    @Override
    public void removeOnAppend(Runnable listener) {
        BrokerEvents.removeOnAppend(partition, listener);
    }

    @Override
    @SuppressWarnings("unchecked")
    public NavigableMap<Integer, Long> lineage() {
        try {
            Object cache = (Object) hooks.leaderEpochCache.invokeExact(log);
            return (NavigableMap<Integer, Long>) (Object) hooks.epochWithOffsets.invokeExact(cache);
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    @Override
    public Uuid logDirId() {
        try {
            Object id = (Object) hooks.logDirectoryId.invokeExact(partition);
            return (boolean) hooks.isDefined.invokeExact(id)
                    ? (Uuid) (Object) hooks.get.invokeExact(id)
                    : Uuid.ZERO_UUID;
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    @Override
    public int segmentBytes() {
        return logConfig().getInt(TopicConfig.SEGMENT_BYTES_CONFIG);
    }

    @Override
    public boolean compacted() {
        return logConfig().getList(TopicConfig.CLEANUP_POLICY_CONFIG).contains(TopicConfig.CLEANUP_POLICY_COMPACT);
    }

    private AbstractConfig logConfig() {
        try {
            return (AbstractConfig) (Object) hooks.logConfig.invokeExact(log);
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof KafkaLedPartition that && partition == that.partition && log == that.log
                && leaderEpoch == that.leaderEpoch && id.equals(that.id);
    }

    @Override
    public int hashCode() {
        return Objects.hash(id, leaderEpoch);
    }

    @Override
    public String toString() {
        return id.topicPartition() + " at leader epoch " + leaderEpoch;
    }
}
