// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.walbridge.agent.SkipAhead.Unread;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

class SkipAheadTest {
    @Test
    void nothingSkipsWhatFits() {
        assertEquals(List.of(), SkipAhead.choose(List.of(), 0));
        assertEquals(List.of(), SkipAhead.choose(unread(60, 40), 100));
    }

    @Test
    void thoseWithMostSkipFirst() {
        List<Unread> all = unread(10, 500, 30, 200);
        assertEquals(List.of(all.get(1), all.get(3)), SkipAhead.choose(all, 100));
        assertEquals(List.of(all.get(1)), SkipAhead.choose(all, 240));
    }

    /** What is left fits, and none skipped in vain. */
    @Test
    void skipsAsFewAsItCan() {
        Random random = Seed.random();
        for (int round = 0; round < 1000; round++) {
            List<Unread> all = new ArrayList<>();
            for (int i = random.nextInt(20); i > 0; i--) {
                all.add(new Unread(null, random.nextInt(1000), i));
            }
            long max = random.nextInt(5000);
            List<Unread> skip = SkipAhead.choose(all, max);
            long left = all.stream().mapToLong(Unread::bytes).sum() - skip.stream().mapToLong(Unread::bytes).sum();
            assertTrue(left <= max, () -> all + " less " + skip);
            assertTrue(skip.isEmpty() || left + skip.get(skip.size() - 1).bytes() > max, () -> all + " less " + skip);
        }
    }

    private static List<Unread> unread(long... bytes) {
        List<Unread> unread = new ArrayList<>();
        for (long each : bytes) {
            unread.add(new Unread(null, each, 0));
        }
        return unread;
    }
}
