package io.walbridge.shim;

import io.walbridge.proto.v1.Source;

import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;

/**
 * Reads the running Kafka's {@code MemoryRecords} and {@code FileRecords}, which are {@code Object} here because their
 * package depends on Kafka's version: {@code org.apache.kafka.common.record}, since 4.3 with {@code .internal}.
 */
final class BrokerRecords {

    private static final Class<?> MEMORY = recordClass("MemoryRecords");
    private static final Class<?> FILE = recordClass("FileRecords");

    private static final MethodHandle MEMORY_BUFFER =
            method(MEMORY, "buffer", MethodType.methodType(ByteBuffer.class));
    private static final MethodHandle FILE_SIZE =
            method(FILE, "sizeInBytes", MethodType.methodType(int.class));
    private static final MethodHandle FILE_READ_INTO =
            method(FILE, "readInto", MethodType.methodType(void.class, ByteBuffer.class, int.class));

    private static final MethodHandle FILE_FILE = method(FILE, "file", MethodType.methodType(File.class));
    /** Where in the file they begin; null where this Kafka does not tell. */
    private static final MethodHandle FILE_START = start();

    private BrokerRecords() {
    }

    /**
     * Returns the section that is all of {@code records} as it is now: what is appended to them later is not part of
     * it.
     *
     * @param records the running Kafka's MemoryRecords, read in place, or FileRecords, read through {@code reads}
     * @throws IllegalArgumentException if they are anything else
     */
    static Section section(Object records, FileReads reads) {
        if (MEMORY.isInstance(records)) {
            return Section.of(buffer(records));
        }
        if (FILE.isInstance(records)) {
            return new FileSection(records, size(records), reads);
        }
        throw new IllegalArgumentException("cannot copy records of class "
                + (records == null ? "null" : records.getClass().getName()));
    }

    private record FileSection(Object records, int sizeInBytes, FileReads reads) implements Section {
        @Override
        public Source source() {
            return BrokerRecords.source(records);
        }

        @Override
        public ByteBuffer read(int position, int length) throws IOException, InterruptedException {
            return reads.call(() -> readInto(records, position, length));
        }
    }

    private static ByteBuffer buffer(Object memoryRecords) {
        try {
            return (ByteBuffer) MEMORY_BUFFER.invokeExact(memoryRecords);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static int size(Object fileRecords) {
        try {
            return (int) FILE_SIZE.invokeExact(fileRecords);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static Source source(Object fileRecords) {
        if (FILE_START == null) {
            return Source.getDefaultInstance();
        }
        try {
            return Source.newBuilder()
                    .setPath(((File) FILE_FILE.invokeExact(fileRecords)).getAbsolutePath())
                    .setPosition((int) FILE_START.invokeExact(fileRecords))
                    .build();
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static ByteBuffer readInto(Object fileRecords, int position, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        try {
            FILE_READ_INTO.invokeExact(fileRecords, bytes, position);
        } catch (IOException e) {
            throw e;
        } catch (Throwable e) {
            throw unexpected(e);
        }
        if (bytes.remaining() != length) {
            throw new EOFException("the file ends " + (length - bytes.remaining()) + " bytes short of the "
                    + length + " at position " + position + " of " + fileRecords);
        }
        return bytes;
    }

    private static Class<?> recordClass(String name) {
        ClassLoader loader = BrokerRecords.class.getClassLoader();
        try {
            return Class.forName("org.apache.kafka.common.record." + name, false, loader);
        } catch (ClassNotFoundException before43) {
            try {
                return Class.forName("org.apache.kafka.common.record.internal." + name, false, loader);
            } catch (ClassNotFoundException e) {
                throw new LinkageError("this Kafka has no " + name + " where 4.0 to 4.4 have it", e);
            }
        }
    }

    private static MethodHandle method(Class<?> type, String name, MethodType signature) {
        try {
            return MethodHandles.publicLookup().findVirtual(type, name, signature)
                    .asType(signature.insertParameterTypes(0, Object.class));
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("this Kafka's " + type.getName() + " differs from 4.0 to 4.4", e);
        }
    }

    private static MethodHandle start() {
        try {
            return MethodHandles.privateLookupIn(FILE, MethodHandles.lookup()).findGetter(FILE, "start", int.class)
                    .asType(MethodType.methodType(int.class, Object.class));
        } catch (ReflectiveOperationException e) {
            return null; // Its field, not a part of its API: without it the bytes are sent.
        }
    }

    private static RuntimeException unexpected(Throwable e) {
        if (e instanceof Error error) {
            throw error;
        }
        return e instanceof RuntimeException unchecked ? unchecked : new IllegalStateException(e);
    }
}
