// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;

import java.util.List;

class PartitionPointersTest {
    private final PartitionPointers pointers = new PartitionPointers(null);

    @Test
    void pointsFromWithinASectionOnToTheFirstGap() {
        Pointer a = add(10, 19);
        Pointer b = add(20, 29);
        add(40, 49);
        assertEquals(List.of(a, b), pointers.from(10, 1_000));
        assertEquals(List.of(b), pointers.from(25, 1_000));
        assertEquals(List.of(), pointers.from(30, 1_000));
        assertFalse(pointers.holds(30));
        assertTrue(pointers.holds(49));
    }

    @Test
    void pointsToOneSectionWhateverTheBound() {
        Pointer a = add(10, 19);
        Pointer b = add(20, 29);
        assertEquals(List.of(a), pointers.from(10, 1));
        assertEquals(List.of(a, b), pointers.from(10, a.length() + b.length()));
    }

    @Test
    void anOverlapEndsWhatIsPointedTo() {
        Pointer a = add(10, 19);
        Pointer b = add(15, 29);
        assertEquals(List.of(a), pointers.from(12, 1_000));
        assertEquals(List.of(b), pointers.from(15, 1_000));
    }

    @Test
    void sectionsAreStoredInAnyOrder() {
        Pointer b = add(20, 29);
        assertFalse(pointers.holds(10));
        assertFalse(pointers.expects(10));
        Pointer a = add(10, 19);
        assertEquals(List.of(a, b), pointers.from(10, 1_000));
    }

    @Test
    void whatComesBeforeTheFirstIsNotExpected() {
        assertFalse(pointers.expects(0), "nothing is known");
        add(10, 19);
        assertFalse(pointers.expects(9));
        assertTrue(pointers.expects(20));
    }

    @Test
    void theOldestGoFirst() {
        for (int i = 0; i < 2_000; i++) {
            add(i, i);
        }
        assertTrue(pointers.holds(1_999));
        assertFalse(pointers.holds(0));
        assertFalse(pointers.expects(0));
    }

    private Pointer add(long base, long last) {
        Pointer pointer = new Pointer(ByteString.EMPTY, 0, 100, base, last);
        pointers.add(pointer);
        return pointer;
    }
}
