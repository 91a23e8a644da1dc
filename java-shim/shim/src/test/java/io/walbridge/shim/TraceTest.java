package io.walbridge.shim;

import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

@Timeout(60)
class TraceTest {

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
    void noCallBeginsATraceUnlessToldTo() throws Exception {
        try (var manager = Fixture.manager(daemon.socket)) {
            copyAndFetch(manager);
            daemon.faults.status = unavailable();
            var e = assertThrows(RemoteStorageException.class, () -> copy(manager));
            assertFalse(e.getMessage().contains("trace"), e.getMessage());
        }
        assertEquals(List.of("", "", ""), List.copyOf(daemon.traces));
    }

    @Test
    void copyAndFetchBeginTracesOfTheirOwn() throws Exception {
        try (var manager = Fixture.manager(daemon.socket, "trace.sample", 1)) {
            copyAndFetch(manager);
        }
        assertEquals(2, new HashSet<>(daemon.traces).size(), daemon.traces.toString());
        for (String parent : daemon.traces) {
            assertTrue(parent.matches("00-[0-9a-f]{32}-[0-9a-f]{16}-01"), parent);
        }
    }

    @Test
    void errorNamesItsTrace() throws Exception {
        daemon.faults.status = unavailable();
        try (var manager = Fixture.manager(daemon.socket, "trace.sample", 1)) {
            var e = assertThrows(RemoteStorageException.class, () -> copy(manager));
            String trace = daemon.traces.element().split("-")[1];
            assertTrue(e.getMessage().contains("(trace " + trace + ")"), e.getMessage());
        }
    }

    @Test
    void shareIsKept() {
        long begun = IntStream.range(0, 10_000).filter(i -> Trace.begin(0.1) != Trace.NONE).count();
        assertTrue(begun > 700 && begun < 1_300, begun + " of 10,000 at 10 %");
    }

    private void copyAndFetch(GrpcRemoteWalStorageManager manager) throws Exception {
        RemoteWalLogSegmentMetadata copied = copy(manager);
        try (var in = manager.fetchLogSegment(copied, 0, Integer.MAX_VALUE)) {
            assertEquals(9, in.readAllBytes().length);
        }
    }

    private static RemoteWalLogSegmentMetadata copy(GrpcRemoteWalStorageManager manager) throws Exception {
        var segments = Fixture.segments(1);
        var update = manager.copyLogSegmentData(Fixture.combined(segments),
                TestRecords.list(TestRecords.inMemory(new byte[9])), segments);
        return Fixture.copied(segments, update).get(0);
    }

    private static io.grpc.StatusRuntimeException unavailable() {
        return FakeDaemon.error(io.grpc.Status.Code.UNAVAILABLE, "UNAVAILABLE", "down");
    }
}
