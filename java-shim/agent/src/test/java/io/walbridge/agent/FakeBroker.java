// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.OffsetOutOfRangeException;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** A broker in memory, with the events that a real one sees: appends, elections, truncation, retention. */
final class FakeBroker implements Broker {
    private final List<FakePartition> partitions = new ArrayList<>();
    private final AtomicLong leadershipVersion = new AtomicLong();
    private final AtomicReference<Runnable> onLeadershipChange = new AtomicReference<>();
    volatile long epoch = 5;
    volatile Map<Uuid, Path> logDirectories = Map.of();

    FakePartition create(String topic, int partition) {
        FakePartition created = new FakePartition(new TopicIdPartition(Uuid.randomUuid(), partition, topic),
                this::leadershipChanged);
        partitions.add(created);
        return created;
    }

    @Override
    public String clusterId() {
        return "fake";
    }

    @Override
    public int id() {
        return 1;
    }

    @Override
    public long epoch() {
        return epoch;
    }

    @Override
    public long leadershipVersion() {
        return leadershipVersion.get();
    }

    @Override
    public void onLeadershipChange(Runnable listener) {
        onLeadershipChange.set(listener);
    }

    @Override
    public void removeOnLeadershipChange(Runnable listener) {
        onLeadershipChange.compareAndSet(listener, null);
    }

    private void leadershipChanged() {
        leadershipVersion.incrementAndGet();
        Runnable listener = onLeadershipChange.get();
        if (listener != null) {
            listener.run();
        }
    }

    @Override
    public List<LedPartition> led() {
        return partitions.stream().map(FakePartition::led).filter(LedPartition::stillLed).toList();
    }

    @Override
    public Map<Uuid, Path> logDirectories() {
        return logDirectories;
    }

    @Override
    public Object records(ByteBuffer batches) {
        return batches;
    }

    /** What nobody has read yet. */
    record InFile(ByteBuffer bytes) {}

    /** One batch of a fake log. */
    record Batch(long baseOffset, long lastOffset, int leaderEpoch, byte[] bytes) {}

    /** A partition and its log. */
    static final class FakePartition {
        private final TopicIdPartition id;
        private final Runnable leadershipChanged;
        private final List<Batch> log = new ArrayList<>();
        private final NavigableMap<Integer, Long> lineage = new TreeMap<>();
        private int leaderEpoch = -1;
        private boolean leader;
        private long logStart;
        private boolean compacted;
        private boolean replicated;
        private Runnable onAppend;

        private FakePartition(TopicIdPartition id, Runnable leadershipChanged) {
            this.id = id;
            this.leadershipChanged = leadershipChanged;
        }

        synchronized void lead(int epoch) {
            leaderEpoch = epoch;
            lineage.put(epoch, end());
            leader = true;
            leadershipChanged.run();
        }

        synchronized void follow(int epoch) {
            leader = false;
            leaderEpoch = epoch;
            leadershipChanged.run();
        }

        synchronized void compact() {
            compacted = true;
        }

        synchronized void replicate() {
            replicated = true;
        }

        synchronized boolean hasListener() {
            return onAppend != null;
        }

        /** Appends as the leader of the epoch, be it this broker or another one. */
        synchronized void append(Random random, int maxPayload) {
            lineage.putIfAbsent(leaderEpoch, end());
            byte[] bytes = Batches.random(random, end(), leaderEpoch, maxPayload);
            log.add(new Batch(end(), end() + ByteBuffer.wrap(bytes).getInt(23), leaderEpoch, bytes));
            if (leader && onAppend != null) {
                onAppend.run();
            }
        }

        /** Drops the last batches, as a follower does. */
        synchronized void truncate(int batches) {
            for (int i = 0; i < batches && !log.isEmpty() && last().baseOffset() >= logStart; i++) {
                log.remove(log.size() - 1);
            }
            lineage.values().removeIf(start -> start >= end());
        }

        /** As DeleteRecords does: perhaps into the middle of a batch. */
        synchronized void deleteRecords(long before) {
            logStart = Math.max(logStart, Math.min(before, end()));
            Map.Entry<Integer, Long> first = lineage.entrySet().stream().filter(epoch -> epoch.getValue() <= logStart)
                    .reduce((earlier, later) -> later).orElse(null);
            if (first != null) {
                lineage.headMap(first.getKey(), false).clear();
                lineage.put(first.getKey(), logStart);
            }
            log.removeIf(batch -> batch.lastOffset() < logStart && batch != last());
        }

        synchronized long end() {
            return log.isEmpty() ? logStart : Math.max(logStart, last().lastOffset() + 1);
        }

        /** What the log holds from its start on. */
        synchronized List<Batch> batches() {
            return log.stream().filter(batch -> batch.lastOffset() >= logStart).toList();
        }

        TopicIdPartition id() {
            return id;
        }

        synchronized LedPartition led() {
            return new Led(this, leaderEpoch);
        }

        private Batch last() {
            return log.get(log.size() - 1);
        }
    }

    private record Led(FakePartition partition, int leaderEpoch) implements LedPartition {
        @Override
        public TopicIdPartition id() {
            return partition.id;
        }

        @Override
        public boolean stillLed() {
            synchronized (partition) {
                return partition.leader && partition.leaderEpoch == leaderEpoch;
            }
        }

        @Override
        public long logStartOffset() {
            synchronized (partition) {
                return partition.logStart;
            }
        }

        @Override
        public long logEndOffset() {
            return partition.end();
        }

        @Override
        public long bytesFrom(long offset) {
            synchronized (partition) {
                return partition.log.stream().filter(batch -> batch.lastOffset() >= offset)
                        .mapToLong(batch -> batch.bytes().length).sum();
            }
        }

        @Override
        public boolean replicated() {
            synchronized (partition) {
                return partition.replicated;
            }
        }

        @Override
        public Appended appended(long offset, int maxBytes) {
            synchronized (partition) {
                List<Batch> batches = partition.log.stream().filter(batch -> batch.baseOffset() >= offset).toList();
                int size = batches.stream().mapToInt(batch -> batch.bytes().length).sum();
                if (!stillLed() || batches.isEmpty() || size > maxBytes
                        || batches.get(0).baseOffset() != offset
                        || batches.stream().anyMatch(batch -> batch.leaderEpoch() != leaderEpoch)) {
                    return null;
                }
                ByteBuffer bytes = ByteBuffer.allocate(size);
                batches.forEach(batch -> bytes.put(batch.bytes()));
                bytes.flip();
                long maxTimestamp = RecordBatches.split(bytes).get(0).maxTimestamp();
                return new Appended(new InFile(bytes), size, partition.end(), maxTimestamp);
            }
        }

        @Override
        public ByteBuffer read(long offset, int maxBytes) {
            synchronized (partition) {
                if (offset < partition.logStart || offset > partition.end()) {
                    throw new OffsetOutOfRangeException("offset " + offset);
                }
                ByteArrayOutputStream read = new ByteArrayOutputStream();
                int limit = 0;
                for (Batch batch : partition.log) {
                    if (batch.lastOffset() >= offset) {
                        limit = limit == 0 ? Math.max(maxBytes, batch.bytes().length) : limit;
                        read.write(batch.bytes(), 0, Math.min(batch.bytes().length, limit - read.size()));
                    }
                }
                return ByteBuffer.wrap(read.toByteArray());
            }
        }

        @Override
        public void onAppend(Runnable listener) {
            synchronized (partition) {
                partition.onAppend = listener;
            }
        }

        @Override
        public void removeOnAppend(Runnable listener) {
            synchronized (partition) {
                partition.onAppend = partition.onAppend == listener ? null : partition.onAppend;
            }
        }

        @Override
        public NavigableMap<Integer, Long> lineage() {
            synchronized (partition) {
                return new TreeMap<>(partition.lineage);
            }
        }

        @Override
        public Uuid logDirId() {
            return Uuid.ZERO_UUID;
        }

        @Override
        public int segmentBytes() {
            return 1 << 20;
        }

        @Override
        public boolean compacted() {
            synchronized (partition) {
                return partition.compacted;
            }
        }
    }
}
