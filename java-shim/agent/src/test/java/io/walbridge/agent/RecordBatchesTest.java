// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

class RecordBatchesTest {
    @Test
    void describesARun() {
        byte[] first = Batches.batch(100, 3, 7, 5_000, new byte[10]);
        byte[] second = Batches.batch(103, 2, 7, 4_000, new byte[20]);
        List<RecordBatches.Run> runs = RecordBatches.split(joined(first, second));
        assertEquals(List.of(new RecordBatches.Run(joined(first, second), 7, 100, 104, 5_000, 5)), runs);
    }

    @Test
    void splitsWhereTheLeaderEpochChanges() {
        byte[] first = Batches.batch(0, 1, 1, 0, new byte[1]);
        byte[] second = Batches.batch(1, 1, 2, 0, new byte[2]);
        byte[] third = Batches.batch(2, 1, 2, 0, new byte[3]);
        List<RecordBatches.Run> runs = RecordBatches.split(joined(first, second, third));
        assertEquals(List.of(joined(first), joined(second, third)),
                runs.stream().map(RecordBatches.Run::bytes).toList());
    }

    @Test
    void refusesOldFormats() {
        byte[] old = Batches.batch(42, 1, 1, 0, new byte[1]);
        old[16] = 1;
        Exception refusal = assertThrows(RecordBatches.CorruptBatchException.class,
                () -> RecordBatches.split(ByteBuffer.wrap(old)));
        assertTrue(refusal.getMessage().contains("offset 42 has format v1"), refusal.getMessage());
    }

    @Test
    void refusesALengthThatCannotBe() {
        byte[] bad = Batches.batch(42, 1, 1, 0, new byte[1]);
        ByteBuffer.wrap(bad).putInt(8, -12);
        assertThrows(RecordBatches.CorruptBatchException.class, () -> RecordBatches.split(ByteBuffer.wrap(bad)));
    }

    /** However the bytes are cut off: whole batches only, all of them, each in a run of its epoch. */
    @Test
    void keepsWholeBatchesOnly() {
        Random random = Seed.random();
        for (int round = 0; round < 500; round++) {
            List<byte[]> batches = new ArrayList<>();
            long offset = 0;
            int epoch = 0;
            for (int i = random.nextInt(6) + 1; i > 0; i--) {
                epoch += random.nextInt(3) == 0 ? 1 : 0;
                byte[] batch = Batches.random(random, offset, epoch, 30);
                batches.add(batch);
                offset += ByteBuffer.wrap(batch).getInt(57);
            }
            ByteBuffer all = joined(batches.toArray(byte[][]::new));
            ByteBuffer cut = all.slice(0, random.nextInt(all.capacity() + 1));
            int whole = 0;
            for (byte[] batch : batches) {
                if (whole + batch.length > cut.capacity()) {
                    break;
                }
                whole += batch.length;
            }
            List<RecordBatches.Run> runs = RecordBatches.split(cut);
            assertEquals(all.slice(0, whole), joined(runs.stream().map(run -> bytes(run.bytes()))
                    .toArray(byte[][]::new)), "round " + round);
            for (RecordBatches.Run run : runs) {
                assertEquals(1, RecordBatches.split(run.bytes()).size());
            }
        }
    }

    private static ByteBuffer joined(byte[]... batches) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] batch : batches) {
            out.writeBytes(batch);
        }
        return ByteBuffer.wrap(out.toByteArray());
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }
}
