package io.walbridge.shim;

import io.walbridge.proto.frame.v1.Entry;
import io.walbridge.proto.frame.v1.EpochStart;
import io.walbridge.proto.v1.CopyHeader;
import io.walbridge.proto.v1.Source;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentState;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

@Timeout(60)
class CopyTest {

    @TempDir
    Path dir;
    private FakeDaemon daemon;

    @BeforeEach
    void start() throws IOException {
        daemon = new FakeDaemon(dir.resolve("s"));
    }

    @AfterEach
    void stop() {
        daemon.close();
    }

    @Test
    void saysHowLongItHasWaited() throws Exception {
        var segments = Fixture.segments(1);
        var records = TestRecords.list(TestRecords.inMemory(Fixture.bytes(10)));
        try (var manager = Fixture.manager(daemon.socket)) {
            long since = System.currentTimeMillis() - 20;
            manager.copyLogSegmentData(Fixture.combined(segments, since), records, segments);
            int waited = daemon.lastHeader.getWaitedMs();
            assertTrue(waited >= 20 && waited <= System.currentTimeMillis() - since, "waited " + waited + " ms");
            manager.copyLogSegmentData(Fixture.combined(segments, Long.MAX_VALUE), records, segments);
            assertEquals(0, daemon.lastHeader.getWaitedMs());
            manager.copyLogSegmentData(Fixture.combined(segments, 0), records, segments);
            assertEquals(60_000, daemon.lastHeader.getWaitedMs());
        }
    }

    @Test
    void whatIsCopiedCanBeFetched() throws Exception {
        byte[] memory = Fixture.bytes(1_000_003);
        byte[] file = Fixture.bytes(700_001);
        byte[] tiny = Fixture.bytes(1);
        Path log = Files.write(dir.resolve("log"), file);
        var segments = Fixture.segments(3);
        try (var manager = Fixture.manager(daemon.socket)) {
            var combined = Fixture.combined(segments);
            var update = manager.copyLogSegmentData(combined, TestRecords.list(TestRecords.inMemory(memory),
                    TestRecords.inFile(log.toFile()), TestRecords.inMemory(tiny)), segments);

            assertEquals(combined.combinedSegmentId(), update.combinedSegmentId());
            assertEquals(RemoteLogSegmentState.COPY_SEGMENT_FINISHED, update.state());
            var copied = Fixture.copied(segments, update);
            assertEquals(FakeDaemon.FIRST_POSITION, copied.get(0).startFilePosition());
            assertEquals(copied.get(0).endFilePosition() + 1, copied.get(1).startFilePosition());
            assertArrayEquals(memory, fetch(manager, copied.get(0), 0, Integer.MAX_VALUE));
            assertArrayEquals(file, fetch(manager, copied.get(1), 0, file.length - 1));
            assertArrayEquals(tiny, fetch(manager, copied.get(2), 0, 0));
            assertArrayEquals(new byte[] {file[500], file[501]}, fetch(manager, copied.get(1), 500, 501));
        }
    }

    @Test
    void headerHasAllThatARestoreNeeds() throws Exception {
        var segments = Fixture.segments(1);
        RemoteWalLogSegmentMetadata segment = segments.get(0);
        try (var manager = Fixture.manager(daemon.socket)) {
            manager.copyLogSegmentData(Fixture.combined(segments),
                    TestRecords.list(TestRecords.inMemory(new byte[9])), segments);
        }
        assertEquals("test-cluster", daemon.lastHeader.getClusterId());
        assertEquals(Fixture.BROKER, daemon.lastHeader.getBrokerId());
        assertEquals(Entry.newBuilder()
                .setTopicId(Translation.bytes(segment.topicIdPartition().topicId()))
                .setTopic("orders")
                .setPartition(0)
                .setSegmentId(Translation.bytes(segment.remoteLogSegmentId().id()))
                .setRestorable(true)
                .setBrokerEpoch(42)
                .setLeaderEpoch(5)
                .addLineage(EpochStart.newBuilder().setEpoch(0).setStartOffset(0))
                .addLineage(EpochStart.newBuilder().setEpoch(5).setStartOffset(90))
                .setBaseOffset(100)
                .setLastOffset(200)
                .setMaxTimestampMs(1_700_000_000_000L)
                .setLogStartOffset(7)
                .setLogDirId(Translation.bytes(segment.logDirId()))
                .setSegmentBytes(1 << 30)
                .setLength(9)
                .build(), daemon.lastHeader.getEntries(0));
    }

    @Test
    void printedMethodCopiesWhatCannotBeRestored() throws Exception {
        var segments = Fixture.segments(1);
        byte[] bytes = Fixture.bytes(5000);
        try (var manager = Fixture.manager(daemon.socket)) {
            var update = manager.copyLogSegmentData(Fixture.combined(segments),
                    TestRecords.list(TestRecords.inMemory(bytes)));
            assertArrayEquals(bytes, fetch(manager, Fixture.copied(segments, update).get(0), 0, 4999));
        }
        Entry entry = daemon.lastHeader.getEntries(0);
        assertFalse(entry.getRestorable());
        assertEquals("orders", entry.getTopic());
        assertEquals(0, entry.getLineageCount());
    }

    @Test
    void smallSectionsShareChunks() throws Exception {
        int n = 1000;
        List<Object> records = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            records.add(TestRecords.inMemory(Fixture.bytes(300 + i % 7)));
        }
        var segments = Fixture.segments(n);
        try (var manager = Fixture.manager(daemon.socket, "chunk.bytes", 65536)) {
            var update = manager.copyLogSegmentData(Fixture.combined(segments),
                    TestRecords.list(records.toArray()), segments);
            assertTrue(daemon.chunks.get() <= n * 306 / 65536 + 1, "chunks: " + daemon.chunks);
            var copied = Fixture.copied(segments, update);
            for (int i : new int[] {0, 217, 999}) {
                assertArrayEquals(Fixture.bytes(300 + i % 7), fetch(manager, copied.get(i), 0, Integer.MAX_VALUE));
            }
        }
    }

    @Test
    void fileThatShrinksIsNotStored() throws Exception {
        File log = Files.write(dir.resolve("log"), Fixture.bytes(600_000)).toFile();
        Object records = TestRecords.inFile(log);
        try (RandomAccessFile file = new RandomAccessFile(log, "rw")) {
            file.setLength(599_999);
        }
        var segments = Fixture.segments(1);
        try (var manager = Fixture.manager(daemon.socket)) {
            var e = assertThrows(RemoteStorageException.class, () -> manager.copyLogSegmentData(
                    Fixture.combined(segments), TestRecords.list(records)));
            assertTrue(e.getMessage().contains("1 bytes short"), e.getMessage());
        }
        assertTrue(daemon.extents.isEmpty());
    }

    /** What the daemon reads itself the shim neither reads nor sends. */
    @Test
    void daemonReadsTheFilesOfSegments() throws Exception {
        byte[] memory = Fixture.bytes(10_000);
        byte[] file = Fixture.bytes(20_000);
        Path log = Files.write(dir.resolve("0.log"), file);
        Object slice = TestRecords.slice(TestRecords.inFile(log.toFile()), 500, 7_000);
        var segments = Fixture.segments(3);
        try (var manager = Fixture.manager(daemon.socket)) {
            var update = manager.copyLogSegmentData(Fixture.combined(segments),
                    TestRecords.list(slice, TestRecords.inMemory(memory), slice), segments);

            var source = Source.newBuilder().setPath(log.toAbsolutePath().toString()).setPosition(500).build();
            assertEquals(List.of(source, Source.getDefaultInstance(), source), daemon.lastHeader.getSourcesList());
            assertEquals(memory.length, daemon.chunkBytes.get());
            var copied = Fixture.copied(segments, update);
            byte[] part = Arrays.copyOfRange(file, 500, 7_500);
            assertArrayEquals(part, fetch(manager, copied.get(0), 0, Integer.MAX_VALUE));
            assertArrayEquals(memory, fetch(manager, copied.get(1), 0, Integer.MAX_VALUE));
            assertArrayEquals(part, fetch(manager, copied.get(2), 0, Integer.MAX_VALUE));
        }
    }

    @Test
    void bytesAreSentAfterTheDaemonCouldNotReadAFile() throws Exception {
        byte[] file = Fixture.bytes(20_000);
        Object records = TestRecords.inFile(Files.write(dir.resolve("0.log"), file).toFile());
        var segments = Fixture.segments(1);
        daemon.faults.noFiles = true;
        try (var manager = Fixture.manager(daemon.socket)) {
            var e = assertThrows(RemoteStorageException.class, () -> manager.copyLogSegmentData(
                    Fixture.combined(segments), TestRecords.list(records), segments));
            assertTrue(e.getMessage().contains("(SOURCE)"), e.getMessage());
            assertTrue(daemon.extents.isEmpty());
            var update = manager.copyLogSegmentData(Fixture.combined(segments), TestRecords.list(records), segments);
            assertEquals(0, daemon.lastHeader.getSourcesCount());
            assertArrayEquals(file, fetch(manager, Fixture.copied(segments, update).get(0), 0, Integer.MAX_VALUE));
        }
    }

    @Test
    void bytesAppendedDuringTheCopyAreNotPartOfIt() throws Exception {
        byte[] bytes = Fixture.bytes(1000);
        Path log = Files.write(dir.resolve("log"), bytes);
        Object records = TestRecords.inFile(log.toFile());
        Files.write(log, new byte[500], StandardOpenOption.APPEND);
        var segments = Fixture.segments(1);
        try (var manager = Fixture.manager(daemon.socket)) {
            var update = manager.copyLogSegmentData(Fixture.combined(segments), TestRecords.list(records), segments);
            assertArrayEquals(bytes, fetch(manager, Fixture.copied(segments, update).get(0), 0, Integer.MAX_VALUE));
        }
    }

    @Test
    void answerThatDoesNotFitIsAnError() throws Exception {
        daemon.faults.wrongLocation = true;
        var segments = Fixture.segments(1);
        try (var manager = Fixture.manager(daemon.socket)) {
            var e = assertThrows(RemoteStorageException.class, () -> manager.copyLogSegmentData(
                    Fixture.combined(segments), TestRecords.list(TestRecords.inMemory(new byte[10])), segments));
            assertTrue(e.getMessage().contains("stored 9 bytes of section 0, not 10"), e.getMessage());
        }
    }

    @Test
    void contradictionsAreRefused() throws Exception {
        var segments = Fixture.segments(2);
        Object some = TestRecords.inMemory(new byte[10]);
        Object none = TestRecords.inMemory(new byte[0]);
        try (var manager = Fixture.manager(daemon.socket)) {
            var combined = Fixture.combined(segments);
            assertThrows(IllegalArgumentException.class,
                    () -> manager.copyLogSegmentData(combined, TestRecords.list(some)));
            assertThrows(IllegalArgumentException.class,
                    () -> manager.copyLogSegmentData(combined, TestRecords.list(some, none)));
            assertThrows(IllegalArgumentException.class,
                    () -> manager.copyLogSegmentData(combined, TestRecords.list(some, "records")));
            assertThrows(IllegalArgumentException.class, () -> manager.copyLogSegmentData(combined,
                    TestRecords.list(some, some), List.of(segments.get(1), segments.get(0))));
        }
    }

    @Test
    void headerLargerThanAMessageIsRefused() throws Exception {
        var segments = Fixture.segments(100);
        Object[] records = new Object[100];
        for (int i = 0; i < records.length; i++) {
            records[i] = TestRecords.inMemory(new byte[10]);
        }
        try (var manager = Fixture.manager(daemon.socket, "max.message.bytes", 8192, "chunk.bytes", 4096)) {
            var e = assertThrows(IllegalArgumentException.class, () -> manager.copyLogSegmentData(
                    Fixture.combined(segments), TestRecords.list(records), segments));
            assertTrue(e.getMessage().contains("max.message.bytes"), e.getMessage());
        }
    }

    @Test
    void daemonThatStopsReadingStopsTheCopy() throws Exception {
        daemon.faults.dontRead = true;
        AtomicLong read = new AtomicLong();
        byte[] chunk = new byte[256 * 1024];
        Section endless = new Section() {
            @Override
            public int sizeInBytes() {
                return 1 << 30;
            }

            @Override
            public ByteBuffer read(int position, int length) {
                read.addAndGet(length);
                return ByteBuffer.wrap(chunk, 0, length);
            }
        };
        var header = CopyHeader.newBuilder()
                .addEntries(Entry.newBuilder().setLength(1 << 30)).build();
        try (var client = Fixture.client(daemon.socket, "copy.timeout.ms", 1000)) {
            var e = assertThrows(RemoteStorageException.class, () -> client.copy(header, List.of(endless)));
            assertTrue(e.getMessage().contains("DEADLINE_EXCEEDED"), e.getMessage());
        }
        assertTrue(read.get() < 4 << 20, "read of the log: " + read);
    }

    /** Surefire gives this JVM 160 MB. */
    @Test
    void memoryDoesNotGrowWithTheCopy() throws Exception {
        daemon.faults.discard = true;
        int size = 512 << 20;
        assertTrue(Runtime.getRuntime().maxMemory() < size, "this test needs a small heap");
        File log = TestRecords.sparse(dir.resolve("log").toFile(), size);
        var segments = Fixture.segments(1);
        try (var manager = Fixture.manager(daemon.socket, "copy.timeout.ms", 50_000)) {
            var update = manager.copyLogSegmentData(Fixture.combined(segments),
                    TestRecords.list(TestRecords.inFile(log)));
            assertEquals(size, update.remoteLogSegmentMetadataEntries().get(0).endFilePosition()
                    - update.remoteLogSegmentMetadataEntries().get(0).startFilePosition() + 1);
        }
        assertTrue(daemon.chunks.get() >= size / (256 * 1024));
    }

    @Test
    void manyCopiesAtOnce() throws Exception {
        try (var manager = Fixture.manager(daemon.socket)) {
            boolean same = IntStream.range(0, 32).parallel().allMatch(i -> {
                try {
                    byte[] bytes = Fixture.bytes(100_000 + i);
                    var segments = Fixture.segments(1);
                    var update = manager.copyLogSegmentData(Fixture.combined(segments),
                            TestRecords.list(TestRecords.inMemory(bytes)), segments);
                    return update.remoteLogSegmentMetadataEntries().get(0).endFilePosition()
                            == FakeDaemon.FIRST_POSITION + bytes.length - 1;
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            assertTrue(same);
        }
    }

    static byte[] fetch(GrpcRemoteWalStorageManager manager, RemoteWalLogSegmentMetadata segment, int start, int end)
            throws Exception {
        try (var stream = manager.fetchLogSegment(segment, start, end)) {
            return stream.readAllBytes();
        }
    }
}
