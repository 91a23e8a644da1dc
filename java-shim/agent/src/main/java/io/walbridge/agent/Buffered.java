// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Bounds the bytes that are read from the log and not yet stored. What finds no room stays in the log, to be read
 * later. Thread-safe.
 */
final class Buffered {
    private final long max;
    private final AtomicLong held = new AtomicLong();

    Buffered(long max) {
        this.max = max;
    }

    /** Takes room for bytes; false, and nothing taken, where that would go beyond the bound. */
    boolean tryReserve(long bytes) {
        long now;
        do {
            now = held.get();
            if (now + bytes > max) {
                return false;
            }
        } while (!held.compareAndSet(now, now + bytes));
        return true;
    }

    /**
     * Corrects a reservation that was a guess. It may go beyond the bound, by one record batch for each reader: a
     * batch is never split.
     */
    void adjust(long bytes) {
        held.addAndGet(bytes);
    }

    void release(long bytes) {
        held.addAndGet(-bytes);
    }

    long held() {
        return held.get();
    }

    boolean hasRoom(long bytes) {
        return held.get() + bytes <= max;
    }
}
