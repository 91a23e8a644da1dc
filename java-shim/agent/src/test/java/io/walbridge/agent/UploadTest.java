// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.walbridge.agent.FakeBroker.Batch;
import io.walbridge.agent.FakeBroker.FakePartition;
import io.walbridge.agent.FakeStorage.Stored;
import org.apache.kafka.common.TopicIdPartition;
import org.junit.jupiter.api.AfterEach;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** What tests of the whole upload share: a broker and a store in memory, and the upload between them. */
abstract class UploadTest {
    static final Duration PATIENCE = Duration.ofSeconds(30);

    final FakeBroker broker = new FakeBroker();
    final FakeStorage storage = new FakeStorage();
    final Map<String, String> config = new HashMap<>(Map.of("remote.log.wal.topics", "t.*"));
    CopyMetrics metrics;
    CopyListener listener = CopyListener.NONE;
    RemoteWalManager manager;

    /** As a start of the broker: nothing is known of an earlier one. */
    void start() {
        metrics = new CopyMetrics();
        manager = new RemoteWalManager(new RemoteWalManagerConfig(config), broker, storage, metrics,
                new StoredEnds(), listener);
        manager.start();
    }

    @AfterEach
    void stop() throws InterruptedException {
        if (manager != null) {
            manager.close(Duration.ZERO, Duration.ofSeconds(2));
        }
    }

    List<FakePartition> lead(int count) {
        List<FakePartition> partitions = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            FakePartition partition = broker.create("t", i);
            partition.lead(1);
            partitions.add(partition);
        }
        return partitions;
    }

    static void append(FakePartition partition, Random random, int batches) {
        append(partition, random, batches, 1000);
    }

    static void append(FakePartition partition, Random random, int batches, int maxPayload) {
        for (int i = 0; i < batches; i++) {
            partition.append(random, maxPayload);
        }
    }

    /** What lies between the WAL start and the WAL end is stored. They are asked for in the order that is safe. */
    void assertPromise(FakePartition partition) {
        synchronized (partition) {
            long walEnd = manager.walEnd("t", partition.id().partition());
            long walStart = manager.getWalStarts().getOrDefault("t-" + partition.id().partition(), walEnd);
            Set<ByteBuffer> stored = stored().getOrDefault(partition.id(), Set.of());
            for (Batch batch : partition.batches()) {
                assertTrue(batch.lastOffset() >= walEnd || batch.baseOffset() < walStart
                                || stored.contains(ByteBuffer.wrap(batch.bytes())),
                        () -> partition.id() + " lacks " + batch + " of the WAL's " + walStart + " to " + walEnd);
            }
        }
    }

    void assertHoldsTheLog(FakePartition partition) {
        Set<ByteBuffer> stored = stored().getOrDefault(partition.id(), Set.of());
        for (Batch batch : partition.batches()) {
            assertTrue(stored.contains(ByteBuffer.wrap(batch.bytes())), () -> partition.id() + " lacks " + batch);
        }
    }

    /** Every batch that was stored, by partition; each section must be what its metadata says. */
    Map<TopicIdPartition, Set<ByteBuffer>> stored() {
        Map<TopicIdPartition, Set<ByteBuffer>> batches = new HashMap<>();
        for (Stored section : storage.stored) {
            List<RecordBatches.Run> runs = RecordBatches.split(ByteBuffer.wrap(section.bytes()));
            assertEquals(1, runs.size());
            RecordBatches.Run run = runs.get(0);
            assertEquals(section.bytes().length, run.bytes().remaining());
            assertEquals(section.metadata().startOffset(), run.baseOffset());
            assertEquals(section.metadata().endOffset(), run.lastOffset());
            assertEquals(section.metadata().maxTimestampMs(), run.maxTimestamp());
            assertEquals(section.metadata().leaderEpoch(), section.metadata().segmentLeaderEpochs().lastKey());
            assertTrue(section.metadata().segmentLeaderEpochs().containsKey(run.leaderEpoch()));
            assertTrue(section.metadata().segmentLeaderEpochs().values().stream()
                    .noneMatch(start -> start > run.baseOffset() && start <= run.lastOffset()), "an epoch in a batch");
            Set<ByteBuffer> of = batches.computeIfAbsent(
                    section.metadata().remoteLogSegmentId().topicIdPartition(), id -> new HashSet<>());
            for (int at = 0; at < section.bytes().length; ) {
                int size = ByteBuffer.wrap(section.bytes()).getInt(at + 8) + 12;
                of.add(ByteBuffer.wrap(section.bytes(), at, size).slice());
                at += size;
            }
        }
        return batches;
    }

    static void await(BooleanSupplier condition) {
        await(condition, PATIENCE);
    }

    static void await(BooleanSupplier condition, Duration patience) {
        long deadline = System.nanoTime() + patience.toNanos();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() < deadline, "it took too long");
            try {
                Thread.sleep(2);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
