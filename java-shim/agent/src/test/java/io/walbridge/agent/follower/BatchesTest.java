// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.SimpleRecord;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.IntStream;

class BatchesTest {
    private final ByteBuffer first = batch(10, 3, 1);
    private final ByteBuffer second = batch(13, 2, 2);
    private final ByteBuffer section = join(first, second);

    @Test
    void aLogAppendsFromItsEndOn() {
        Batches whole = Batches.from(section, 10, 2);
        assertEquals(section, whole.bytes());
        assertEquals(14, whole.lastOffset());
        assertEquals(5, whole.records());
        Batches rest = Batches.from(section, 13, 2);
        assertEquals(second, rest.bytes());
        assertEquals(2, rest.records());
        assertEquals(section, Batches.joined(List.of(Batches.from(first, 10, 2), rest)));
    }

    @Test
    void offsetsThatDoNotFitAreRefused() {
        for (long logEnd : new long[] {9, 11, 14, 15}) {
            assertThrows(IllegalArgumentException.class, () -> Batches.from(section, logEnd, 2), "log end " + logEnd);
        }
        assertThrows(IllegalArgumentException.class, () -> Batches.from(join(first, batch(14, 1, 1)), 10, 2), "a gap");
    }

    @Test
    void aLaterLeaderEpochIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> Batches.from(section, 10, 1));
        assertEquals(12, Batches.from(first, 10, 1).lastOffset());
    }

    @Test
    void everyWrongByteUnderTheChecksumIsFound() {
        for (int at = 17; at < first.limit(); at++) {
            ByteBuffer wrong = join(first, second);
            wrong.put(at, (byte) (wrong.get(at) ^ 1));
            assertThrows(IllegalArgumentException.class, () -> Batches.from(wrong, 10, 2), "byte " + at);
        }
    }

    @Test
    void whatIsCutOffIsRefused() {
        for (int length = 0; length < section.limit(); length++) {
            ByteBuffer cut = section.slice(0, length);
            if (length != first.limit()) {
                assertThrows(IllegalArgumentException.class, () -> Batches.from(cut, 10, 2), "cut to " + length);
            }
        }
    }

    private static ByteBuffer batch(long baseOffset, int records, int leaderEpoch) {
        return MemoryRecords.withRecords((byte) 2, baseOffset, Compression.NONE, null, -1, (short) -1, -1,
                leaderEpoch, false, IntStream.range(0, records)
                        .mapToObj(i -> new SimpleRecord(("value" + i).getBytes())).toArray(SimpleRecord[]::new))
                .buffer();
    }

    private static ByteBuffer join(ByteBuffer... parts) {
        ByteBuffer all = ByteBuffer.allocate(IntStream.range(0, parts.length).map(i -> parts[i].remaining()).sum());
        for (ByteBuffer part : parts) {
            all.put(part.duplicate());
        }
        return all.flip();
    }
}
