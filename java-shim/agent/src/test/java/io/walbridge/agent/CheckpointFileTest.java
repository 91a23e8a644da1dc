// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

class CheckpointFileTest {
    @TempDir
    Path directory;

    @Test
    void readsWhatWasWrittenLast() throws IOException {
        CheckpointFile file = new CheckpointFile(directory);
        file.write(ends(3));
        List<StoredEnd> ends = ends(7);
        file.write(ends);
        assertEquals(ends, new CheckpointFile(directory).read());
        try (Stream<Path> files = Files.list(directory)) {
            assertEquals(List.of(path()), files.toList());
        }
    }

    @Test
    void isEmptyBeforeTheFirstWrite() throws IOException {
        assertEquals(List.of(), new CheckpointFile(directory).read());
    }

    @Test
    void refusesEveryDamagedByteAndEveryLength() throws IOException {
        new CheckpointFile(directory).write(ends(2));
        byte[] right = Files.readAllBytes(path());
        for (int at = 0; at < right.length; at++) {
            byte[] wrong = right.clone();
            wrong[at] ^= 1;
            assertRefused(wrong);
            assertRefused(Arrays.copyOf(right, at));
        }
        assertRefused(Arrays.copyOf(right, right.length + 1));
    }

    @Test
    void refusesAnotherVersion() throws IOException {
        new CheckpointFile(directory).write(ends(2));
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path()));
        bytes.putInt(0, 2);
        CRC32C crc = new CRC32C();
        crc.update(bytes.array(), 0, bytes.capacity() - 4);
        bytes.putInt(bytes.capacity() - 4, (int) crc.getValue());
        assertTrue(assertRefused(bytes.array()).getMessage().contains("has version 2, not 1"));
    }

    /** Only the oldest epochs are left out: what the later ones prove stays as it was. */
    @Test
    void keepsTheLatestOfManyEpochs() throws IOException {
        TreeMap<Integer, Long> lineage = new TreeMap<>();
        for (int epoch = 0; epoch < 1000; epoch++) {
            lineage.put(epoch, 10L * epoch);
        }
        StoredEnd end = new StoredEnd(Sections.stored(id(), lineage, 9_995, 9_999), 10_000);
        CheckpointFile file = new CheckpointFile(directory);
        file.write(List.of(end));
        StoredEnd read = file.read().get(0);
        assertEquals(lineage.tailMap(936), read.section().segmentLeaderEpochs());
        assertEquals(10_000, read.within(lineage, 0, 20_000));
    }

    private IOException assertRefused(byte[] bytes) throws IOException {
        Files.write(path(), bytes);
        return assertThrows(IOException.class, () -> new CheckpointFile(directory).read());
    }

    private Path path() {
        return directory.resolve("walbridge-checkpoint");
    }

    private static List<StoredEnd> ends(int count) {
        List<StoredEnd> ends = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            TreeMap<Integer, Long> lineage = new TreeMap<>();
            for (int epoch = 0; epoch <= i; epoch++) {
                lineage.put(2 * epoch, 10L * epoch);
            }
            ends.add(new StoredEnd(Sections.stored(id(), lineage, 90 + i, 98 + i), 100 + i));
        }
        return ends;
    }

    private static TopicIdPartition id() {
        return new TopicIdPartition(Uuid.randomUuid(), 3, "orders");
    }
}
