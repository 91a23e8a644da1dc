package io.walbridge.shim;

import org.apache.kafka.common.record.Records;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.util.List;

/** The running Kafka's records, made without naming their package, which Kafka 4.3 changed. */
final class TestRecords {

    private TestRecords() {
    }

    static Object inMemory(byte[] bytes) throws ReflectiveOperationException {
        return type("MemoryRecords").getMethod("readableRecords", ByteBuffer.class)
                .invoke(null, ByteBuffer.wrap(bytes));
    }

    static Object inFile(File file) throws ReflectiveOperationException {
        return type("FileRecords").getMethod("open", File.class).invoke(null, file);
    }

    static Object slice(Object fileRecords, int position, int size) throws ReflectiveOperationException {
        return fileRecords.getClass().getMethod("slice", int.class, int.class).invoke(fileRecords, position, size);
    }

    /** A file of zeros that takes no space. */
    static File sparse(File file, long size) throws IOException {
        try (RandomAccessFile f = new RandomAccessFile(file, "rw")) {
            f.setLength(size);
        }
        return file;
    }

    @SuppressWarnings("unchecked")
    static List<Records> list(Object... records) {
        return (List<Records>) (List<?>) List.of(records);
    }

    private static Class<?> type(String name) throws ClassNotFoundException {
        try {
            return Class.forName("org.apache.kafka.common.record." + name);
        } catch (ClassNotFoundException since43) {
            return Class.forName("org.apache.kafka.common.record.internal." + name);
        }
    }
}
