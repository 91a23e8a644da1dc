package io.walbridge.shim;

import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

@Timeout(60)
class ConnectionTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @TempDir
    Path dir;

    @Test
    void callsFailAtOnceWhileTheDaemonIsDown() {
        try (var client = Fixture.client(dir.resolve("s"))) {
            long start = System.nanoTime();
            var e = assertThrows(RemoteStorageException.class, () -> client.status(PATIENCE));
            assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(5));
            assertTrue(e.getMessage().contains("UNAVAILABLE"), e.getMessage());
            assertTrue(e.getMessage().contains("unix:" + dir.resolve("s")), e.getMessage());
        }
    }

    @Test
    void daemonComesBack() throws Exception {
        // The best of some: a busy machine makes one slow, grpc's own backoff makes all of them.
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 3 && best >= 2_200; i++) {
            best = Math.min(best, reconnect());
        }
        assertTrue(best < 2_200, "reconnected after " + best + " ms");
    }

    /** How many milliseconds a client takes to find a daemon that was away for some seconds. */
    private long reconnect() throws Exception {
        try (var client = Fixture.client(dir.resolve("s"))) {
            FakeDaemon first = new FakeDaemon(dir.resolve("s"));
            assertEquals("fake", client.status(PATIENCE).getVersion());
            first.close();
            // Long enough for grpc's own backoff to have grown to some 4 s, past what is allowed below.
            long down = System.nanoTime();
            while (System.nanoTime() - down < TimeUnit.SECONDS.toNanos(6)) {
                assertThrows(RemoteStorageException.class, () -> client.status(PATIENCE));
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
            }
            FakeDaemon second = new FakeDaemon(dir.resolve("s"));
            long up = System.nanoTime();
            untilAnswered(client);
            long took = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - up);
            second.close();
            return took;
        }
    }

    @Test
    void closeIsIdempotentAndBoundedByRunningCalls() throws Exception {
        try (var daemon = new FakeDaemon(dir.resolve("s"))) {
            daemon.faults.hang = true;
            var manager = Fixture.manager(daemon.socket, "copy.timeout.ms", 60_000);
            var segments = Fixture.segments(1);
            var copy = new Thread(() -> assertThrows(RemoteStorageException.class, () -> manager.copyLogSegmentData(
                    Fixture.combined(segments), TestRecords.list(TestRecords.inMemory(new byte[10])), segments)));
            copy.start();
            while (daemon.lastHeader == null) {
                Thread.onSpinWait();
            }
            long start = System.nanoTime();
            manager.close();
            manager.close();
            assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(30));
            copy.join(5_000);
            assertFalse(copy.isAlive(), "the copy outlived its manager");
        }
    }

    @Test
    void closeWithoutConfigureDoesNothing() throws Exception {
        new GrpcRemoteWalStorageManager().close();
    }

    private static void untilAnswered(WalClient client) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (true) {
            try {
                client.status(PATIENCE);
                return;
            } catch (RemoteStorageException e) {
                assertTrue(System.nanoTime() < deadline, e.getMessage());
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
            }
        }
    }
}
