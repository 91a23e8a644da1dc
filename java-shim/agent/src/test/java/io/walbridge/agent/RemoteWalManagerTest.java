// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.walbridge.agent.FakeBroker.FakePartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

/** The whole upload, between a broker and a store in memory. */
@Timeout(60)
class RemoteWalManagerTest extends UploadTest {
    @Test
    void storesWhatThereIsAndWhatComes() {
        Random random = Seed.random();
        FakePartition partition = broker.create("t", 0);
        partition.lead(3);
        append(partition, random, 50);
        start();
        await(() -> manager.getLagRecords() == 0 && manager.walEnd("t", 0) == partition.end());
        append(partition, random, 50);
        await(() -> manager.walEnd("t", 0) == partition.end());
        assertHoldsTheLog(partition);
        assertEquals(partition.batches().stream().mapToLong(batch -> batch.bytes().length).sum(), metrics.bytes());
        assertEquals(partition.end(), metrics.records());
        assertEquals(0, manager.getBufferedBytes());
    }

    @Test
    void storesOnlyWhatIsSelectedAndLed() {
        Random random = Seed.random();
        FakePartition other = broker.create("other", 0);
        other.lead(1);
        FakePartition compacted = broker.create("t-compacted", 0);
        compacted.compact();
        compacted.lead(1);
        FakePartition followed = broker.create("t", 1);
        followed.follow(1);
        FakePartition led = broker.create("t", 0);
        led.lead(1);
        for (FakePartition partition : List.of(other, compacted, followed, led)) {
            append(partition, random, 5);
        }
        start();
        await(() -> manager.walEnd("t", 0) == led.end());
        assertEquals(Map.of("t-0", led.end()), manager.getWalEnds());
        assertEquals(Set.of(led.id()), stored().keySet());
    }

    @Test
    void waitsForTheBrokerToRegister() {
        FakePartition partition = lead(1).get(0);
        append(partition, Seed.random(), 10);
        broker.epoch = -1;
        start();
        assertThrows(AssertionError.class,
                () -> await(() -> manager.getPartitions() > 0 || !storage.stored.isEmpty(), Duration.ofMillis(300)));
        broker.epoch = 7;
        await(() -> manager.walEnd("t", 0) == partition.end());
        assertTrue(storage.stored.stream().allMatch(section -> section.metadata().brokerEpoch() == 7));
    }

    @Test
    void copiesFromFilesUntilThatFails() {
        Random random = Seed.random();
        FakePartition partition = lead(1).get(0);
        append(partition, random, 10);
        start();
        await(() -> manager.walEnd("t", 0) == partition.end());
        int fromFiles = storage.fromFiles.get();
        assertTrue(fromFiles > 0);

        storage.noFiles = true;
        append(partition, random, 10);
        await(() -> manager.walEnd("t", 0) == partition.end());
        append(partition, random, 10);
        await(() -> manager.walEnd("t", 0) == partition.end());
        assertHoldsTheLog(partition);
        assertEquals(fromFiles, storage.fromFiles.get());
        assertEquals(1, metrics.failures());
    }

    @Test
    void readsWhereCopiesFromFilesAreNotWanted() {
        config.put("remote.wal.log.manager.copy.from.files", "false");
        Random random = Seed.random();
        FakePartition partition = lead(1).get(0);
        append(partition, random, 10);
        start();
        await(() -> manager.walEnd("t", 0) == partition.end());
        assertEquals(0, storage.fromFiles.get());
    }

    @Test
    void anOutageHoldsNothingBackForEver() {
        Random random = Seed.random();
        List<FakePartition> partitions = lead(20);
        storage.down = true;
        start();
        partitions.forEach(partition -> append(partition, random, 20));
        await(() -> metrics.failures() > 5);
        assertTrue(storage.stored.isEmpty());
        storage.down = false;
        await(() -> manager.getLagRecords() == 0);
        partitions.forEach(this::assertHoldsTheLog);
    }

    @Test
    void memoryIsBoundedDuringAnOutage() {
        Random random = Seed.random();
        config.put("remote.wal.log.manager.buffer.bytes", String.valueOf(4 << 20));
        config.put("remote.wal.log.manager.combiner.max.bytes", String.valueOf(2 << 20));
        List<FakePartition> partitions = lead(8);
        storage.down = true;
        partitions.forEach(partition -> append(partition, random, 20, 300_000));
        start();
        await(() -> manager.getBufferedBytes() > 3 << 20);
        await(() -> metrics.failures() > 10);
        assertTrue(manager.getBufferedBytes() <= 4 << 20, manager.getBufferedBytes() + " bytes");
        storage.down = false;
        await(() -> manager.getLagRecords() == 0);
        partitions.forEach(this::assertHoldsTheLog);
        assertTrue(storage.largestCopy.get() <= 2 << 20, storage.largestCopy + " bytes");
        assertEquals(0, manager.getBufferedBytes());
    }

    @Test
    void replicatedPartitionsSkipWhatIsTooMuch() {
        Random random = Seed.random();
        config.put("remote.wal.log.manager.max.backlog.bytes", String.valueOf(4 << 20));
        config.put("remote.wal.log.manager.buffer.bytes", String.valueOf(4 << 20));
        FakePartition single = lead(1).get(0);
        storage.down = true;
        start();
        // The single one fills the memory, so that the other waits in its log.
        append(single, random, 60, 300_000);
        await(() -> manager.getBufferedBytes() > 3 << 20);
        FakePartition replicated = broker.create("t", 1);
        replicated.replicate();
        replicated.follow(1);
        append(replicated, random, 60, 300_000);
        replicated.lead(2);
        await(() -> metrics.skippedRecords() > 0);
        long skippedTo = replicated.end();
        assertEquals(skippedTo, manager.getWalStarts().get("t-1"));
        assertEquals(skippedTo, manager.walEnd("t", 1));
        storage.down = false;
        append(replicated, random, 5);
        await(() -> manager.getLagRecords() == 0);
        assertPromise(replicated);
        assertEquals(skippedTo, manager.getWalStarts().get("t-1"), "the gap is never claimed");
        assertTrue(metrics.skippedRecords() <= skippedTo && metrics.skippedBytes() > 4 << 20);
        assertHoldsTheLog(single);
    }

    @Test
    void aBatchLargerThanEveryBoundIsStoredAllTheSame() {
        Random random = Seed.random();
        config.put("remote.wal.log.manager.combiner.max.bytes", "1000");
        FakePartition partition = lead(1).get(0);
        partition.append(random, 5 << 20);
        start();
        await(() -> manager.walEnd("t", 0) == partition.end());
        assertHoldsTheLog(partition);
        assertEquals(0, manager.getBufferedBytes());
    }

    @Test
    void tellsOfWhatIsStoredAndOfFailures() {
        AtomicInteger failures = new AtomicInteger();
        Queue<StoredSection> told = new ConcurrentLinkedQueue<>();
        listener = new CopyListener() {
            @Override
            public void stored(List<StoredSection> sections) {
                told.addAll(sections);
            }

            @Override
            public void failed() {
                failures.incrementAndGet();
            }
        };
        FakePartition partition = lead(1).get(0);
        append(partition, Seed.random(), 20);
        storage.down = true;
        start();
        await(() -> failures.get() > 0);
        assertTrue(told.isEmpty());
        storage.down = false;
        await(() -> manager.walEnd("t", 0) == partition.end());
        assertEquals(partition.end(), told.stream().mapToLong(section -> section.metadata().endOffset() + 1).max()
                .orElseThrow());
        told.forEach(section -> {
            assertEquals(partition.id(), section.led().id());
            assertTrue(section.metadata().customMetadata().isPresent());
        });
    }

    @Test
    void oneRefusedPartitionDoesNotHoldUpTheOthers() {
        Random random = Seed.random();
        config.put("remote.wal.log.manager.combiner.thread.pool.size", "1");
        List<FakePartition> partitions = lead(10);
        storage.refused = segment -> segment.remoteLogSegmentId().topicIdPartition().partition() == 3;
        partitions.forEach(partition -> append(partition, random, 3));
        start();
        long expected = partitions.stream().filter(partition -> partition.id().partition() != 3)
                .mapToLong(FakePartition::end).sum();
        await(() -> metrics.records() == expected);
        storage.refused = segment -> false;
        await(() -> manager.getLagRecords() == 0);
        partitions.forEach(this::assertHoldsTheLog);
    }

    /** What it throws cannot even be logged. */
    @Test
    void noErrorOfTheStorageEndsAThreadOrLosesASection() {
        Random random = Seed.random();
        config.put("remote.wal.log.manager.combiner.thread.pool.size", "1");
        List<FakePartition> partitions = lead(10);
        storage.error = () -> new Error() {
            private static final long serialVersionUID = 1L;

            @Override
            public String toString() {
                throw new StackOverflowError();
            }
        };
        partitions.forEach(partition -> append(partition, random, 3));
        start();
        await(() -> metrics.failures() >= 3);
        storage.error = null;
        await(() -> manager.getLagRecords() == 0);
        partitions.forEach(this::assertHoldsTheLog);
        assertEquals(0, manager.getBufferedBytes());
    }

    @Test
    void tellsWhichTopicsAreRefused() {
        FakePartition compacted = broker.create("t-compacted", 0);
        compacted.compact();
        compacted.lead(1);
        lead(1);
        start();
        await(() -> manager.getPartitions() == 1);
        assertEquals(Set.of("t-compacted"), manager.getRefusedTopics().keySet());
        assertTrue(manager.getRefusedTopics().get("t-compacted").contains("compacted"));
        manager.select(new TopicSelection(List.of(Pattern.compile("other"))));
        await(() -> manager.getPartitions() == 0);
        assertEquals(Map.of(), manager.getRefusedTopics());
    }

    @Test
    void goesOnWhereItWasWhenItLeadsAgain() {
        Random random = Seed.random();
        FakePartition partition = lead(1).get(0);
        append(partition, random, 10);
        start();
        await(() -> manager.walEnd("t", 0) == partition.end());
        partition.follow(2);
        await(() -> manager.getPartitions() == 0);
        assertEquals(-1, manager.walEnd("t", 0));
        append(partition, random, 10);
        partition.lead(3);
        append(partition, random, 10);
        await(() -> manager.walEnd("t", 0) == partition.end());
        assertHoldsTheLog(partition);
        assertEquals(partition.end(), metrics.records(), "records are stored once");
    }

    @Test
    void storesAnewWhatWasTruncated() {
        Random random = Seed.random();
        FakePartition partition = lead(1).get(0);
        append(partition, random, 10);
        start();
        await(() -> manager.walEnd("t", 0) == partition.end());
        partition.follow(2);
        await(() -> manager.getPartitions() == 0);
        partition.truncate(4);
        append(partition, random, 8);
        partition.lead(3);
        await(() -> manager.walEnd("t", 0) == partition.end());
        assertHoldsTheLog(partition);
    }

    @Test
    void beginsWithinABatch() {
        Random random = Seed.random();
        FakePartition partition = lead(1).get(0);
        append(partition, random, 20);
        long middle = partition.batches().stream().filter(batch -> batch.lastOffset() > batch.baseOffset() + 1)
                .skip(2).findFirst().orElseThrow().lastOffset();
        partition.deleteRecords(middle);
        start();
        await(() -> manager.walEnd("t", 0) == partition.end());
        assertHoldsTheLog(partition);
        assertEquals(0, metrics.skippedRecords(), "nothing was wanted of what lay below the log start");
    }

    @Test
    void countsWhatWasDeletedBeforeItWasStored() {
        Random random = Seed.random();
        config.put("remote.wal.log.manager.buffer.bytes", String.valueOf(4 << 20));
        FakePartition partition = lead(1).get(0);
        storage.down = true;
        append(partition, random, 20, 400_000);
        start();
        await(() -> metrics.failures() > 0);
        long deleted = partition.end();
        partition.deleteRecords(deleted);
        append(partition, random, 20);
        storage.down = false;
        await(() -> manager.getLagRecords() == 0 && manager.getBufferedBytes() == 0);
        long read = storage.stored.stream().mapToLong(section -> section.metadata().endOffset() + 1)
                .filter(end -> end <= deleted).max().orElse(0);
        assertTrue(read < deleted && metrics.skippedRecords() >= deleted - read,
                metrics.skippedRecords() + " of " + deleted + " counted, stored up to " + read);
        assertHoldsTheLog(partition);
    }

    @Test
    void closeStoresWhatIsLeft() throws InterruptedException {
        Random random = Seed.random();
        storage.maxDelayMs = 20;
        List<FakePartition> partitions = lead(30);
        start();
        await(() -> manager.getPartitions() == 30);
        partitions.forEach(partition -> append(partition, random, 10));
        manager.close(PATIENCE, Duration.ofSeconds(2));
        partitions.forEach(this::assertHoldsTheLog);
        assertTrue(storage.closed);
    }

    @Test
    void closeDoesNotWaitForAStorageThatIsDown() throws InterruptedException {
        FakePartition partition = lead(1).get(0);
        storage.down = true;
        start();
        append(partition, Seed.random(), 10);
        await(() -> metrics.failures() > 0);
        long start = System.nanoTime();
        manager.close(PATIENCE, Duration.ofSeconds(2));
        assertTrue(System.nanoTime() - start < Duration.ofSeconds(5).toNanos());
        assertFalse(Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.isAlive() && thread.getName().startsWith("walbridge-combiner")));
    }

    /**
     * Appends, elections, truncation and retention at random, on a store that fails every tenth time in every way.
     * At every moment the WAL end is a promise: what the log holds below it is stored.
     */
    @Test
    void keepsItsPromiseThroughEverything() throws InterruptedException {
        Random random = Seed.random();
        storage.failures = 10;
        storage.maxDelayMs = 4;
        List<FakePartition> partitions = lead(6);
        int[] epochs = new int[partitions.size()];
        Arrays.fill(epochs, 1);
        start();
        long end = System.nanoTime() + Duration.ofSeconds(8).toNanos();
        for (int step = 0; System.nanoTime() < end; step++) {
            int i = random.nextInt(partitions.size());
            FakePartition partition = partitions.get(i);
            switch (random.nextInt(100)) {
                case 0 -> {
                    partition.follow(++epochs[i]);
                    partition.truncate(random.nextInt(4));
                    append(partition, random, random.nextInt(4));
                    partition.lead(++epochs[i]);
                }
                case 1 -> partition.lead(++epochs[i]);
                case 2 -> partition.deleteRecords(partition.end() - random.nextInt(100));
                default -> partition.append(random, 2000);
            }
            if (step % 200 == 0) {
                assertPromise(partition);
            }
            Thread.sleep(0, 500_000);
        }
        storage.failures = 0;
        await(() -> manager.getPartitions() == partitions.size() && manager.getLagRecords() == 0);
        partitions.forEach(this::assertPromise);
        partitions.forEach(this::assertHoldsTheLog);
    }
}
