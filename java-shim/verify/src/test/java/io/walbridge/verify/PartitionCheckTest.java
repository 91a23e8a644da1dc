// SPDX-License-Identifier: Apache-2.0
package io.walbridge.verify;

import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentId;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class PartitionCheckTest {
    private static final Uuid TOPIC = Uuid.randomUuid();

    @TempDir
    Path dir;

    private long logStart = -1;
    private final List<RemoteWalLogSegmentMetadata> entries = new ArrayList<>();
    private final Map<RemoteWalLogSegmentMetadata, byte[]> stored = new IdentityHashMap<>();

    /** Two segments: offsets 0-2 and 3-4 in leader epoch 0, the commit 5 in epoch 1. */
    @BeforeEach
    void writeLog() throws IOException {
        Files.writeString(dir.resolve("partition.metadata"), "version: 0\ntopic_id: " + TOPIC + "\n");
        Files.writeString(dir.resolve("leader-epoch-checkpoint"), "0\n2\n0 0\n1 5\n");
        segment(0, batch(0, 0, 3));
        segment(3, batch(3, 0, 2), commit(5, 1));
    }

    @Test
    void acceptsWhatIsTheLogs() throws Exception {
        store(0, 0, 2, batch(0, 0, 3));
        store(0, 3, 4, batch(3, 0, 2));
        store(1, 5, 5, commit(5, 1));
        Figures figures = check();
        assertEquals(5, figures.records());
        assertEquals(1, figures.controlRecords());
        assertEquals(3, figures.entries());
        assertEquals(Map.of("gzip", 2L, "plain", 2L, "commit", 1L), figures.batches());
    }

    @Test
    void countsWhatIsStoredTwiceOnce() throws Exception {
        store(0, 0, 4, batch(0, 0, 3), batch(3, 0, 2));
        store(0, 3, 4, batch(3, 0, 2));
        store(1, 5, 5, commit(5, 1));
        Figures figures = check();
        assertEquals(5, figures.records());
        assertEquals(3, figures.entries());
    }

    @Test
    void acceptsTheTailOfADeposedLeader() throws Exception {
        store(0, 0, 7, batch(0, 0, 3), batch(3, 0, 2), batch(5, 0, 3));
        store(1, 5, 5, commit(5, 1));
        Figures figures = check();
        assertEquals(5, figures.records());
        assertEquals(1, figures.truncatedBatches());
    }

    @Test
    void findsEveryWrongByte() throws Exception {
        byte[] right = bytes(batch(0, 0, 3));
        for (int at = 0; at < right.length; at++) {
            entries.clear();
            store(0, 0, 2, batch(0, 0, 3));
            store(0, 3, 4, batch(3, 0, 2));
            store(1, 5, 5, commit(5, 1));
            stored.get(entries.get(0))[at] ^= 1;
            int position = at;
            assertThrows(Exception.class, this::check, () -> "byte " + position);
        }
    }

    @Test
    void findsAGap() {
        store(0, 0, 2, batch(0, 0, 3));
        store(1, 5, 5, commit(5, 1));
        assertMismatch("offsets 3-4 are not stored");
    }

    @Test
    void findsAMissingTail() {
        store(0, 0, 2, batch(0, 0, 3));
        store(0, 3, 4, batch(3, 0, 2));
        assertMismatch("stored up to offset 5, but the log ends at 6");
    }

    @Test
    void findsATailThatOnlyADeposedLeaderStored() {
        store(0, 0, 7, batch(0, 0, 3), batch(3, 0, 2), batch(5, 0, 3));
        assertMismatch("of the batch of offset 5 is not the log's");
    }

    @Test
    void findsAnEntryThatEndsEarly() {
        byte[] whole = bytes(batch(0, 0, 3));
        store(0, 0, 2, ByteBuffer.wrap(Arrays.copyOf(whole, whole.length - 1)));
        assertMismatch("holds whole batches up to offset -1");
    }

    @Test
    void findsTheWrongTopicId() {
        store(0, 0, 2, batch(0, 0, 3));
        entries.set(0, metadata(Uuid.randomUuid(), 0, 0, 2));
        assertMismatch("stored up to offset 0, but the log ends at 6");
    }

    /** DeleteRecords moved the log start into the second batch; its segment is still there, and so is the first. */
    @Test
    void beginsWithinABatch() throws Exception {
        logStart = 4;
        store(0, 3, 4, batch(3, 0, 2));
        store(1, 5, 5, commit(5, 1));
        assertEquals(2, check().records());
        entries.remove(0);
        assertMismatch("offsets 4-4 are not stored");
    }

    @Test
    void ignoresWhatLiesBelowTheLogStart() throws Exception {
        logStart = 3;
        store(0, 0, 2, batch(0, 0, 1), batch(1, 0, 2)); // not the log's batches
        store(0, 3, 4, batch(3, 0, 2));
        store(1, 5, 5, commit(5, 1));
        assertEquals(2, check().records());
    }

    /** The entry was copied by the leader of epoch 1; its batches are of epoch 0. */
    @Test
    void acceptsWhatALaterLeaderStored() throws Exception {
        store(1, 0, 4, batch(0, 0, 3), batch(3, 0, 2));
        store(1, 5, 5, commit(5, 1));
        assertEquals(5, check().records());
    }

    @Test
    void ignoresAnotherTopicOfTheSameName() throws Exception {
        store(0, 0, 4, batch(0, 0, 3), batch(3, 0, 2));
        store(1, 5, 5, commit(5, 1));
        entries.add(0, metadata(Uuid.randomUuid(), 9, 0, 2));
        assertEquals(5, check().records());
    }

    @Test
    void findsWhatAReaderWouldTakeForTheLog() {
        store(0, 0, 4, batch(0, 0, 3), batch(3, 0, 2));
        store(1, 5, 5, commit(5, 1));
        store(1, 6, 7, batch(6, 1, 2));
        assertMismatch("the batch of offset 6 is not in the log");
    }

    @Test
    void findsAnEpochThatStartsElsewhere() throws IOException {
        Files.writeString(dir.resolve("leader-epoch-checkpoint"), "0\n2\n0 0\n1 4\n");
        store(0, 0, 4, batch(0, 0, 3), batch(3, 0, 2));
        store(1, 5, 5, commit(5, 1));
        assertMismatch("the WAL says that leader epoch 1 starts at 5, but the log says 4");
    }

    private void assertMismatch(String part) {
        MismatchException e = assertThrows(MismatchException.class, this::check);
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    private Figures check() throws Exception {
        try (BrokerLog log = new BrokerLog(dir, logStart)) {
            return new PartitionCheck(log, stored::get).run(entries);
        }
    }

    private void store(int epoch, long base, long last, ByteBuffer... batches) {
        RemoteWalLogSegmentMetadata entry = metadata(TOPIC, epoch, base, last);
        entries.add(entry);
        stored.put(entry, bytes(batches));
    }

    private static RemoteWalLogSegmentMetadata metadata(Uuid topic, int epoch, long base, long last) {
        Map<Integer, Long> lineage = epoch == 0 ? Map.of(0, 0L) : Map.of(0, 0L, 1, 5L);
        return new RemoteWalLogSegmentMetadata(
                new RemoteLogSegmentId(new TopicIdPartition(topic, 0, "t"), Uuid.randomUuid()),
                base, last, -1, 1, 1, 1, epoch, lineage, 0, Uuid.randomUuid(), 1 << 20);
    }

    private static byte[] bytes(ByteBuffer... batches) {
        ByteBuffer all = ByteBuffer.allocate(Arrays.stream(batches).mapToInt(ByteBuffer::remaining).sum());
        for (ByteBuffer batch : batches) {
            all.put(batch.duplicate());
        }
        return all.array();
    }

    private static ByteBuffer batch(long base, int epoch, int records) {
        SimpleRecord[] all = new SimpleRecord[records];
        Arrays.setAll(all, i -> new SimpleRecord(1, ("value " + (base + i)).repeat(20).getBytes()));
        return MemoryRecords.withRecords(base, Compression.gzip().build(), epoch, all).buffer();
    }

    private static ByteBuffer commit(long base, int epoch) {
        return MemoryRecords.withEndTransactionMarker(base, 1, epoch, 7, (short) 0,
                new EndTransactionMarker(ControlRecordType.COMMIT, 0)).buffer();
    }

    private void segment(long base, ByteBuffer... batches) throws IOException {
        try (FileRecords file = FileRecords.open(dir.resolve(String.format("%020d.log", base)).toFile())) {
            for (ByteBuffer batch : batches) {
                file.append(MemoryRecords.readableRecords(batch));
            }
        }
    }
}
