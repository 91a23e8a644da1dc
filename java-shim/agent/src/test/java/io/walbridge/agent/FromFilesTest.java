// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

class FromFilesTest {
    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
    private final FromFiles files = new FromFiles(true, now::get);

    @Test
    void neverWhereItIsNotWanted() {
        assertFalse(new FromFiles(false, now::get).allowed());
    }

    @Test
    void breaksGrowWhileItKeepsFailing() {
        assertEquals(List.of(1L, 2L, 4L, 8L, 16L, 16L), breaks(6));
    }

    @Test
    void breaksAreShortAgainAfterItHasWorked() {
        breaks(4);
        files.worked();
        assertEquals(List.of(1L, 2L), breaks(2));
    }

    @Test
    void copiesThatFailTogetherCountOnce() {
        files.failed();
        files.failed();
        now.addAndGet(Duration.ofMinutes(1).toNanos());
        assertTrue(files.allowed());
    }

    /** How many minutes each of the next breaks takes. */
    private List<Long> breaks(int count) {
        List<Long> minutes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            assertTrue(files.allowed());
            files.failed();
            long waited = 0;
            while (!files.allowed()) {
                now.addAndGet(Duration.ofMinutes(1).toNanos());
                waited++;
            }
            minutes.add(waited);
        }
        return minutes;
    }
}
