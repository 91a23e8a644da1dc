package io.walbridge.shim;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.grpc.Status;
import io.walbridge.proto.v1.EntryLocation;
import io.walbridge.proto.v1.EntryRange;
import io.walbridge.proto.v1.ListCombinedSegmentsRequest;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

@Timeout(60)
class FetchTest {

    private static final ByteString EXTENT = ByteString.copyFromUtf8("extent");
    private static final int SIZE = 3_000_000;

    @TempDir
    Path dir;
    private FakeDaemon daemon;
    private WalClient client;
    private final byte[] bytes = Fixture.bytes(SIZE);

    @BeforeEach
    void start() throws IOException {
        daemon = new FakeDaemon(dir.resolve("s"));
        daemon.extents.put(EXTENT, ByteString.copyFrom(bytes));
        client = Fixture.client(daemon.socket, "fetch.timeout.ms", 5000);
    }

    @AfterEach
    void stop() {
        client.close();
        daemon.close();
    }

    @Test
    void wrongChecksumIsAnError() throws Exception {
        daemon.faults.wrongCrc = true;
        daemon.faults.from = 1;
        assertFails("CRC-32C mismatch", 10_000);
    }

    @Test
    void wrongChecksumOfTheFirstChunkFailsTheFetch() {
        daemon.faults.wrongCrc = true;
        var e = assertThrows(RemoteStorageException.class, () -> client.fetch(EXTENT, whole()));
        assertTrue(e.getMessage().contains("CRC-32C mismatch"), e.getMessage());
    }

    @Test
    void shortAnswerIsAnError() throws Exception {
        daemon.faults.shortByOne = true;
        assertFails("1 bytes short", SIZE - 1);
    }

    @Test
    void longAnswerIsAnError() throws Exception {
        daemon.faults.longByOne = true;
        assertFails("longer than what was asked for", SIZE);
    }

    @Test
    void daemonThatDiesIsAnError() throws Exception {
        daemon.faults.die = true;
        daemon.faults.from = 3;
        assertFails("UNAVAILABLE", 30_000);
    }

    @Test
    void errorInTheMiddleIsAnError() throws Exception {
        daemon.faults.status = FakeDaemon.error(Status.Code.DATA_LOSS, "CHECKSUM", "zone a: object x");
        daemon.faults.from = 2;
        assertFails("DATA_LOSS (CHECKSUM): zone a: object x", 20_000);
    }

    @Test
    void daemonThatHangsIsGivenUp() throws Exception {
        client.close();
        client = Fixture.client(daemon.socket, "fetch.timeout.ms", 500);
        daemon.faults.hang = true;
        daemon.faults.from = 2;
        assertFails("DEADLINE_EXCEEDED", 20_000);
    }

    @Test
    void notFoundFailsBeforeThereIsAStream() {
        var e = assertThrows(RemoteResourceNotFoundException.class,
                () -> client.fetch(ByteString.copyFromUtf8("other"), whole()));
        assertTrue(e.getMessage().contains("NOT_FOUND (NOT_FOUND): no such object"), e.getMessage());
    }

    @Test
    void closeCancelsAtOnce() throws Exception {
        InputStream stream = client.fetch(EXTENT, whole());
        assertEquals(bytes[0] & 0xff, stream.read());
        stream.close();
        assertTrue(daemon.cancelled.await(30, TimeUnit.SECONDS), "the daemon was not told");
        assertThrows(IOException.class, stream::read);
        stream.close();
        assertTrue(daemon.bytesSent.get() < SIZE, "sent: " + daemon.bytesSent);
    }

    @Test
    void abandonedStreamTimesOut() throws Exception {
        client.close();
        client = Fixture.client(daemon.socket, "fetch.timeout.ms", 500);
        InputStream stream = client.fetch(EXTENT, whole());
        assertTrue(daemon.cancelled.await(30, TimeUnit.SECONDS), "the daemon was not told");
        var e = assertThrows(IOException.class, stream::readAllBytes);
        assertTrue(e.getMessage().contains("DEADLINE_EXCEEDED"), e.getMessage());
    }

    @Test
    void slowReaderHoldsTheDaemonBack() throws Exception {
        int size = 32 << 20;
        daemon.extents.put(EXTENT, UnsafeByteOperations.unsafeWrap(new byte[size]));
        daemon.faults.chunkBytes = 256 * 1024;
        try (InputStream stream = client.fetch(EXTENT, range(0, size, 0, size))) {
            stream.read();
            long sent = settled();
            assertTrue(sent < 8 << 20, "sent to a reader that reads nothing: " + sent);
            assertEquals(size - 1, stream.skip(size));
        }
    }

    @Test
    void rangesOfManyEntriesComeInOneCall() throws Exception {
        var ranges = List.of(range(0, 100_000, 0, Long.MAX_VALUE), range(100_000, 50_000, 10, 19),
                range(2_000_000, 1_000_000, 999_999, 999_999));
        List<byte[]> got = new ArrayList<>();
        client.fetchEntries(EXTENT, ranges, (i, buffer) -> {
            assertEquals(got.size(), i);
            got.add(bytesOf(buffer));
        });
        assertEquals(3, got.size());
        assertArrayEquals(Arrays.copyOfRange(bytes, 0, 100_000), got.get(0));
        assertArrayEquals(Arrays.copyOfRange(bytes, 100_010, 100_020), got.get(1));
        assertArrayEquals(new byte[] {bytes[2_999_999]}, got.get(2));
    }

    @Test
    void faultyRangesAreErrors() {
        var ranges = List.of(range(0, 30_000, 0, 29_999), range(30_000, 10, 0, 9));
        daemon.faults.wrongCrc = true;
        assertEntriesFail("CRC-32C mismatch", ranges);
        daemon.faults.wrongCrc = false;
        daemon.faults.shortByOne = true;
        assertEntriesFail("it ends in range 1 of 2", ranges);
        daemon.faults.shortByOne = false;
        daemon.faults.longByOne = true;
        assertEntriesFail("longer than what was asked for", ranges);
        daemon.faults.status = FakeDaemon.error(Status.Code.NOT_FOUND, "NOT_FOUND", "gone");
        assertThrows(RemoteResourceNotFoundException.class,
                () -> client.fetchEntries(EXTENT, ranges, (i, buffer) -> { }));
    }

    @Test
    void impossibleRangesAreRefused() {
        for (EntryRange range : List.of(range(0, 10, -1, 5), range(0, 10, 6, 5), range(0, 10, 10, 20))) {
            assertThrows(IllegalArgumentException.class, () -> client.fetch(EXTENT, range));
            assertThrows(IllegalArgumentException.class,
                    () -> client.fetchEntries(EXTENT, List.of(range), (i, buffer) -> { }));
        }
    }

    @Test
    void listAndStatus() throws Exception {
        List<ByteString> extents = new ArrayList<>();
        client.list(ListCombinedSegmentsRequest.getDefaultInstance(), Duration.ofSeconds(5),
                frame -> extents.add(frame.getExtent()));
        assertEquals(List.of(EXTENT), extents);
        assertTrue(client.status(Duration.ofSeconds(5)).getHealthy());
    }

    /** The fetch fails before its last byte, wherever: an error overtakes the chunks that nobody has read yet. */
    private void assertFails(String how, int bytesBefore) throws Exception {
        ByteArrayOutputStream got = new ByteArrayOutputStream();
        RemoteStorageException failure;
        try (InputStream stream = client.fetch(EXTENT, whole())) {
            IOException e = assertThrows(IOException.class, () -> stream.transferTo(got));
            failure = assertInstanceOf(RemoteStorageException.class, e.getCause());
            assertThrows(IOException.class, stream::read, "reading on must not find an end of file");
        } catch (RemoteStorageException e) {
            failure = e;
        }
        assertTrue(failure.getMessage().contains(how), failure.getMessage());
        assertTrue(got.size() <= bytesBefore, got.size() + " bytes before the error");
        assertArrayEquals(Arrays.copyOf(bytes, got.size()), got.toByteArray());
    }

    private void assertEntriesFail(String how, List<EntryRange> ranges) {
        var e = assertThrows(RemoteStorageException.class,
                () -> client.fetchEntries(EXTENT, ranges, (i, buffer) -> { }));
        assertTrue(e.getMessage().contains(how), e.getMessage());
    }

    /** What the daemon has sent once it sends no more: the same for 200 ms. */
    private long settled() throws InterruptedException {
        long before = -1;
        while (before != daemon.bytesSent.get()) {
            before = daemon.bytesSent.get();
            Thread.sleep(200);
        }
        return before;
    }

    private static EntryRange whole() {
        return range(0, SIZE, 0, SIZE - 1);
    }

    private static EntryRange range(int position, int length, long start, long end) {
        return EntryRange.newBuilder()
                .setEntry(EntryLocation.newBuilder().setPosition(position).setLength(length))
                .setStartPosition(start).setEndPosition(end).build();
    }

    private static byte[] bytesOf(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }
}
