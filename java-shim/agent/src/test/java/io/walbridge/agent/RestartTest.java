// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.walbridge.agent.FakeBroker.FakePartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** The upload goes on after a restart of the broker, as far as the WAL and the log agree with the checkpoint. */
@Timeout(60)
class RestartTest extends UploadTest {
    private final Random random = Seed.random();

    @TempDir
    Path logDirectory;

    @BeforeEach
    void makeLogDirectory() throws IOException {
        broker.logDirectories = Map.of(Uuid.randomUuid(), logDirectory);
        for (int i = 0; i < 6; i++) {
            Files.createDirectory(logDirectory.resolve("t-" + i));
        }
    }

    @Test
    void uploadsOnlyWhatIsNew() throws Exception {
        FakePartition partition = uploaded(50);
        restart();
        append(partition, random, 10);
        awaitEnd(partition);
        assertEquals(partition.end(), records(), "records are stored once");
        assertEquals(1, storage.fetches.get());
    }

    @Test
    void uploadsAgainWhatAnOlderCheckpointDoesNotKnow() throws Exception {
        FakePartition partition = uploaded(50);
        stop();
        byte[] older = Files.readAllBytes(checkpoint());
        long end = partition.end();
        start();
        append(partition, random, 10);
        awaitEnd(partition);
        stop();
        Files.write(checkpoint(), older);
        storage.stored.removeIf(section -> section.metadata().startOffset() >= end);
        restart();
        awaitEnd(partition);
        assertEquals(partition.end(), records(), "all that the older checkpoint knew is stored once");
    }

    /** After a controlled shutdown the broker leads nothing any more. */
    @Test
    void remembersWhatItDoesNotLead() throws Exception {
        FakePartition partition = uploaded(50);
        partition.follow(2);
        await(() -> manager.getPartitions() == 0);
        for (int i = 0; i < 3; i++) {
            restart();
        }
        partition.lead(3);
        append(partition, random, 10);
        awaitEnd(partition);
        assertEquals(partition.end(), records(), "records are stored once");
    }

    @Test
    void uploadsAnewWhatWasTruncatedMeanwhile() throws Exception {
        FakePartition partition = uploaded(50);
        partition.follow(2);
        stop();
        partition.truncate(10);
        append(partition, random, 20);
        start();
        partition.lead(3);
        awaitEnd(partition);
        assertHoldsTheLog(partition);
        assertEquals(1, storage.fetches.get());
    }

    /** A power loss takes the log's tail, and it is written anew in the same epoch: no lineage tells. */
    @Test
    void uploadsEverythingWhereTheLogHasOtherBytes() throws Exception {
        FakePartition partition = uploaded(50);
        stop();
        partition.truncate(10);
        append(partition, random, 40);
        start();
        awaitEnd(partition);
        assertHoldsTheLog(partition);
    }

    @Test
    void uploadsEverythingToAnEmptyWal() throws Exception {
        FakePartition partition = uploaded(50);
        stop();
        storage.stored.clear();
        start();
        awaitEnd(partition);
        assertHoldsTheLog(partition);
    }

    @Test
    void waitsForAStorageThatIsDown() throws Exception {
        FakePartition partition = uploaded(50);
        stop();
        append(partition, random, 10);
        storage.down = true;
        start();
        assertThrows(AssertionError.class, () -> await(() -> manager.getPartitions() > 0, Duration.ofMillis(300)));
        storage.down = false;
        awaitEnd(partition);
        assertEquals(partition.end(), records(), "records are stored once");
    }

    @Test
    void ignoresADamagedCheckpoint() throws Exception {
        FakePartition partition = uploaded(50);
        stop();
        Files.write(checkpoint(), new byte[] {1, 2, 3});
        start();
        awaitEnd(partition);
        assertEquals(2 * partition.end(), records(), "all records are stored twice");
        assertEquals(0, storage.fetches.get());
        stop();
        assertEquals(1, new CheckpointFile(logDirectory).read().size());
    }

    @Test
    void uploadsATopicThatWasCreatedAnew() throws Exception {
        FakePartition old = uploaded(50);
        stop();
        old.follow(2);
        FakePartition partition = broker.create("t", 0);
        partition.lead(1);
        append(partition, random, 5);
        start();
        awaitEnd(partition);
        assertHoldsTheLog(partition);
        stop();
        List<StoredEnd> written = new CheckpointFile(logDirectory).read();
        assertEquals(List.of(partition.id()), written.stream().map(StoredEnd::id).toList());
    }

    @Test
    void forgetsWhatTheBrokerHasNoLogOf() throws Exception {
        uploaded(50).follow(2);
        stop();
        Files.delete(logDirectory.resolve("t-0"));
        start();
        stop();
        assertEquals(List.of(), new CheckpointFile(logDirectory).read());
    }

    /** Everything of a log directory that was moved from is read at the next start, too. */
    @Test
    void findsACheckpointInAnyLogDirectory() throws Exception {
        FakePartition partition = uploaded(50);
        stop();
        Path other = Files.createTempDirectory(logDirectory, "other");
        Files.createDirectory(other.resolve("t-0"));
        Files.delete(logDirectory.resolve("t-0"));
        broker.logDirectories = Map.of(Uuid.randomUuid(), logDirectory, Uuid.randomUuid(), other);
        start();
        append(partition, random, 10);
        awaitEnd(partition);
        assertEquals(partition.end(), records(), "records are stored once");
    }

    /** Everything at random, and restarts with checkpoints of any age. */
    @Test
    void keepsItsPromiseThroughRestarts() throws Exception {
        storage.failures = 10;
        List<FakePartition> partitions = lead(6);
        int[] epochs = new int[partitions.size()];
        Arrays.fill(epochs, 1);
        byte[] kept = null;
        start();
        for (int step = 0; step < 3_000; step++) {
            int i = random.nextInt(partitions.size());
            FakePartition partition = partitions.get(i);
            switch (random.nextInt(200)) {
                case 0, 1 -> {
                    partition.follow(++epochs[i]);
                    partition.truncate(random.nextInt(4));
                    append(partition, random, random.nextInt(4));
                    partition.lead(++epochs[i]);
                }
                case 2 -> partition.lead(++epochs[i]);
                case 3 -> partition.deleteRecords(partition.end() - random.nextInt(100));
                case 4 -> {
                    stop();
                    if (kept != null && random.nextBoolean()) {
                        Files.write(checkpoint(), kept);
                    } else if (Files.exists(checkpoint())) {
                        kept = Files.readAllBytes(checkpoint());
                    }
                    start();
                }
                default -> partition.append(random, 2000);
            }
            if (step % 100 == 0) {
                assertPromise(partition);
            }
            Thread.sleep(0, 500_000);
        }
        storage.failures = 0;
        await(() -> manager.getPartitions() == partitions.size() && manager.getLagRecords() == 0);
        partitions.forEach(this::assertPromise);
        partitions.forEach(this::assertHoldsTheLog);
    }

    /** A partition that is stored to its end. */
    private FakePartition uploaded(int batches) {
        FakePartition partition = lead(1).get(0);
        append(partition, random, batches);
        start();
        awaitEnd(partition);
        return partition;
    }

    private void restart() throws InterruptedException {
        stop();
        start();
    }

    private void awaitEnd(FakePartition partition) {
        await(() -> manager.walEnd("t", partition.id().partition()) == partition.end());
        assertTrue(manager.getPartitions() > 0);
    }

    /** Records that all starts have stored. */
    private long records() {
        return storage.stored.stream()
                .mapToLong(section -> section.metadata().endOffset() - section.metadata().startOffset() + 1).sum();
    }

    private Path checkpoint() {
        return logDirectory.resolve("walbridge-checkpoint");
    }
}
