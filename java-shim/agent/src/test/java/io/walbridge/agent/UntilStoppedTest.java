// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;

@Timeout(30)
class UntilStoppedTest {
    private final UntilStopped loop = new UntilStopped(this::step, new LogThrottle(Duration.ZERO));
    private int steps;

    private void step() throws InterruptedException {
        switch (++steps) {
            case 1 -> throw new IllegalStateException("any exception");
            case 2 -> throw new InterruptedException("nobody stops it");
            case 3 -> throw new Unspeakable();
            default -> loop.stop();
        }
    }

    @Test
    void nothingButAStopEndsIt() {
        loop.run();
        assertEquals(4, steps);
    }

    /** As out of memory: to tell of it fails as well. */
    private static final class Unspeakable extends Error {
        private static final long serialVersionUID = 1L;

        @Override
        public String toString() {
            throw new OutOfMemoryError("no room for the message");
        }
    }
}
