// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.ByteString;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;

class PointerFieldTest {
    private static final ByteString ONE = ByteString.copyFrom(new byte[48]);
    private static final ByteString OTHER = ByteString.copyFromUtf8("another extent");
    private static final List<Offer> OFFERS = List.of(
            new Offer(new Uuid(-1, Long.MIN_VALUE), 0, 3, 90, 5,
                    List.of(new Pointer(ONE, 100, 2_000, 95, 99), new Pointer(OTHER, 33, 1 << 20, 100, 100))),
            new Offer(new Uuid(7, 8), 1_000, 0, 1L << 40, 0, List.of(new Pointer(ONE, 2_100, 61, 1L << 41, 1L << 41))));

    @Test
    void isReadAsItWasWritten() throws IOException {
        assertEquals(OFFERS, PointerField.decode(PointerField.encode(OFFERS)));
    }

    @Test
    void holdsAnExtentOnce() {
        int both = PointerField.encode(OFFERS).length;
        int first = PointerField.encode(OFFERS.subList(0, 1)).length;
        assertEquals(true, both - first < ONE.size(), both + " bytes, " + first + " of the first partition");
    }

    @Test
    void whatIsCutOffIsRefused() {
        byte[] field = PointerField.encode(OFFERS);
        for (int length = 0; length < field.length; length++) {
            byte[] cut = Arrays.copyOf(field, length);
            assertThrows(IOException.class, () -> PointerField.decode(cut), "cut to " + length);
        }
    }

    @Test
    void anotherVersionIsRefused() {
        byte[] field = PointerField.encode(OFFERS);
        byte[] other = field.clone();
        other[0]++;
        assertThrows(IOException.class, () -> PointerField.decode(other));
        assertThrows(IOException.class, () -> PointerField.decode(Arrays.copyOf(field, field.length + 1)));
        assertArrayEquals(field, PointerField.encode(OFFERS));
    }
}
