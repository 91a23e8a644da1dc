// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class FollowerProgressTest {
    private static final long PATIENCE = FollowerProgress.PATIENCE.toNanos();
    private static final long REST = FollowerProgress.REST.toNanos();

    /** System.nanoTime may be about to overflow. */
    private final long begin = Long.MAX_VALUE - PATIENCE / 2;
    private final FollowerProgress follower = new FollowerProgress();

    @Test
    void recordsAreKeptBackWhileItMoves() {
        for (int i = 0; i < 10; i++) {
            follower.fetched(i, true);
            assertTrue(follower.patient(begin + i * PATIENCE));
        }
        assertTrue(follower.marked());
        assertEquals(9, follower.offset());
    }

    @Test
    void oneThatStandsStillGetsRecordsForAWhile() {
        follower.fetched(5, true);
        assertTrue(follower.patient(begin));
        assertTrue(follower.patient(begin + PATIENCE - 1));
        assertFalse(follower.patient(begin + PATIENCE));
        follower.fetched(6, true);
        assertFalse(follower.patient(begin + PATIENCE + REST - 1));
        assertTrue(follower.patient(begin + PATIENCE + REST));
        assertTrue(follower.patient(begin + 2 * PATIENCE + REST - 1));
        assertFalse(follower.patient(begin + 2 * PATIENCE + REST));
    }

    @Test
    void waitingForAnAppendIsNotStandingStill() {
        follower.fetched(5, true);
        follower.fetched(5, true);
        assertTrue(follower.patient(begin + 100 * PATIENCE));
    }
}
