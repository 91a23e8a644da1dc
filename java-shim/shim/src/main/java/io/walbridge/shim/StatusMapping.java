package io.walbridge.shim;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.ErrorInfo;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.protobuf.StatusProto;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * The one place where what the daemon answers becomes an exception of Kafka's.
 *
 * <p>The message of each is {@code <what was tried>: <code> (<reason>): <the daemon's message>}; the reason is that of
 * the {@code google.rpc.ErrorInfo} that came with it, see wal.proto, and is left out where none came.
 */
final class StatusMapping {

    private static final String STORAGE_PACKAGE = RemoteStorageException.class.getPackageName();

    /** {@code (String, Throwable)}: RetriableRemoteStorageException, or its superclass before Kafka 4.2. */
    private static final MethodHandle RETRIABLE = retriable();

    /** The daemon cannot read a section's file, or finds something else there. The bytes it would take. */
    private static final String SOURCE = "SOURCE";

    private StatusMapping() {
    }

    static boolean isSource(StatusException e) {
        return reason(e).equals(SOURCE);
    }

    /** What a call that ended with {@code e} throws. {@code what} names what was tried, on which object. */
    static RemoteStorageException exception(String what, StatusException e) {
        Status status = e.getStatus();
        String reason = reason(e);
        String message = what + ": " + status.getCode() + (reason.isEmpty() ? "" : " (" + reason + ")") + ": "
                + description(status);
        if (reason.equals(SOURCE)) {
            return retriable(message, e);
        }
        return switch (status.getCode()) {
            case NOT_FOUND -> new RemoteResourceNotFoundException(message, e);
            case UNAVAILABLE, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED -> retriable(message, e);
            default -> new RemoteStorageException(message, e);
        };
    }

    /** What an interrupted call throws. It sets the thread's interrupt flag again. */
    static RemoteStorageException interrupted(String what, InterruptedException e) {
        Thread.currentThread().interrupt();
        return new RemoteStorageException(what + ": interrupted", e);
    }

    private static String description(Status status) {
        String description = status.getDescription() == null ? "no message" : status.getDescription();
        Throwable cause = status.getCause();
        // "io exception" alone tells nobody that the socket is not there.
        return cause == null ? description : description + ": " + cause;
    }

    private static String reason(StatusException e) {
        com.google.rpc.Status details = StatusProto.fromThrowable(e);
        if (details == null) {
            return "";
        }
        for (Any detail : details.getDetailsList()) {
            if (detail.is(ErrorInfo.class)) {
                try {
                    return detail.unpack(ErrorInfo.class).getReason();
                } catch (InvalidProtocolBufferException malformed) {
                    return "";
                }
            }
        }
        return "";
    }

    private static RemoteStorageException retriable(String message, Throwable cause) {
        try {
            return (RemoteStorageException) RETRIABLE.invokeExact(message, cause);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static MethodHandle retriable() {
        Class<?> type;
        try {
            type = Class.forName(STORAGE_PACKAGE + ".RetriableRemoteStorageException", true,
                    StatusMapping.class.getClassLoader());
        } catch (ClassNotFoundException before42) {
            type = RemoteStorageException.class;
        }
        try {
            return MethodHandles.publicLookup()
                    .findConstructor(type, MethodType.methodType(void.class, String.class, Throwable.class))
                    .asType(MethodType.methodType(RemoteStorageException.class, String.class, Throwable.class));
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("this Kafka's " + type.getName() + " differs from 4.0 to 4.4", e);
        }
    }
}
