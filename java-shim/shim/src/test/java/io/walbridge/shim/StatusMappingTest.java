package io.walbridge.shim;

import io.grpc.Status;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

import java.nio.file.Path;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

@Timeout(60)
class StatusMappingTest {

    @TempDir
    Path dir;

    @ParameterizedTest
    @EnumSource(value = Status.Code.class, mode = Mode.EXCLUDE, names = "OK")
    void everyCodeHasItsException(Status.Code code) throws Exception {
        var segments = Fixture.segments(1);
        try (var daemon = new FakeDaemon(dir.resolve("s")); var manager = Fixture.manager(daemon.socket)) {
            daemon.faults.status = FakeDaemon.error(code, "REASON", "zone a: append 01J: too bad");
            var e = assertThrows(RemoteStorageException.class, () -> manager.copyLogSegmentData(
                    Fixture.combined(segments), TestRecords.list(TestRecords.inMemory(new byte[10])), segments));
            assertEquals(expected(code), e.getClass());
            assertTrue(e.getMessage().endsWith(": " + code + " (REASON): zone a: append 01J: too bad"), e.getMessage());
        }
    }

    private static Class<?> expected(Status.Code code) {
        return switch (code) {
            case NOT_FOUND -> RemoteResourceNotFoundException.class;
            case UNAVAILABLE, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED -> retriable();
            default -> RemoteStorageException.class;
        };
    }

    /** The class is there since Kafka 4.2; which Kafka this is says another class, which is there until 4.2. */
    private static Class<?> retriable() {
        String name = "org.apache.kafka.server.log.remote.storage.RetriableRemoteStorageException";
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException e) {
            assertTrue(before43(), name + " is missing from a Kafka that has it");
            return RemoteStorageException.class;
        }
    }

    private static boolean before43() {
        try {
            Class.forName("org.apache.kafka.common.record.Records");
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
