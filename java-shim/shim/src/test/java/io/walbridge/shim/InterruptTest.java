package io.walbridge.shim;

import com.google.protobuf.ByteString;
import io.walbridge.proto.v1.EntryLocation;
import io.walbridge.proto.v1.EntryRange;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

@Timeout(60)
class InterruptTest {

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
    void copyIsCancelledAndTheFlagKept() throws Exception {
        daemon.faults.hang = true;
        var segments = Fixture.segments(1);
        try (var manager = Fixture.manager(daemon.socket)) {
            var result = new CompletableFuture<Exception>();
            Thread copy = thread(result, () -> manager.copyLogSegmentData(Fixture.combined(segments),
                    TestRecords.list(TestRecords.inMemory(new byte[10])), segments));
            while (daemon.lastHeader == null) {
                Thread.onSpinWait();
            }
            copy.interrupt();
            Exception e = result.get(30, TimeUnit.SECONDS);
            assertEquals(RemoteStorageException.class, e.getClass());
            assertTrue(e.getMessage().endsWith("interrupted"), e.getMessage());
            assertTrue(daemon.cancelled.await(30, TimeUnit.SECONDS), "the daemon was not told");
        }
    }

    @Test
    void interruptDoesNotCloseTheBrokersFile() throws Exception {
        daemon.faults.discard = true;
        Object records = TestRecords.inFile(TestRecords.sparse(dir.resolve("log").toFile(), 1 << 30));
        var segments = Fixture.segments(1);
        try (var manager = Fixture.manager(daemon.socket)) {
            var result = new CompletableFuture<Exception>();
            Thread copy = thread(result, () -> manager.copyLogSegmentData(Fixture.combined(segments),
                    TestRecords.list(records)));
            while (daemon.chunks.get() < 20) {
                Thread.onSpinWait();
            }
            copy.interrupt();
            assertEquals(RemoteStorageException.class, result.get(30, TimeUnit.SECONDS).getClass());
        }
        var channel = (FileChannel) records.getClass().getMethod("channel").invoke(records);
        assertTrue(channel.isOpen(), "the interrupt has closed the segment");
    }

    @Test
    void fetchIsCancelledAndTheFlagKept() throws Exception {
        ByteString extent = ByteString.copyFromUtf8("e");
        daemon.extents.put(extent, ByteString.copyFrom(new byte[100_000]));
        daemon.faults.hang = true;
        daemon.faults.from = 1;
        var range = EntryRange.newBuilder().setEntry(EntryLocation.newBuilder().setLength(100_000))
                .setEndPosition(99_999).build();
        try (var client = Fixture.client(daemon.socket); InputStream stream = client.fetch(extent, range)) {
            var result = new CompletableFuture<Exception>();
            Thread reader = thread(result, stream::readAllBytes);
            reader.interrupt();
            Exception e = result.get(30, TimeUnit.SECONDS);
            assertInstanceOf(InterruptedIOException.class, e);
            assertTrue(daemon.cancelled.await(30, TimeUnit.SECONDS), "the daemon was not told");
            assertThrows(IOException.class, stream::read);
        }
    }

    @Test
    void interruptBeforeTheCallFailsIt() throws Exception {
        try (var client = Fixture.client(daemon.socket)) {
            Thread.currentThread().interrupt();
            assertThrows(RemoteStorageException.class, () -> client.status(Duration.ofSeconds(5)));
            assertTrue(Thread.interrupted(), "the flag is lost");
        }
    }

    private interface Action {
        void run() throws Exception;
    }

    /** Runs {@code action} and hands out its exception, if the thread still knows that it was interrupted. */
    private static Thread thread(CompletableFuture<Exception> result, Action action) {
        Thread thread = new Thread(() -> {
            try {
                action.run();
                result.completeExceptionally(new AssertionError("it was not interrupted"));
            } catch (Exception e) {
                if (Thread.currentThread().isInterrupted()) {
                    result.complete(e);
                } else {
                    result.completeExceptionally(new AssertionError("the flag is lost", e));
                }
            }
        });
        thread.start();
        return thread;
    }
}
