// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Whether sections are copied from the log's files: the storage manager gets FileRecords, which nobody has read, rather
 * than bytes. After a copy of such sections has failed, whatever the reason, it gets bytes for a while, and longer each
 * time that it fails again. Thread-safe.
 */
final class FromFiles {
    private static final Duration FIRST_BREAK = Duration.ofMinutes(1);
    private static final Duration LONGEST_BREAK = Duration.ofMinutes(16);

    private final boolean wanted;
    private final LongSupplier nanoTime;
    private volatile long againNanos;
    private volatile Duration nextBreak = FIRST_BREAK;

    FromFiles(boolean wanted, LongSupplier nanoTime) {
        this.wanted = wanted;
        this.nanoTime = nanoTime;
        this.againNanos = nanoTime.getAsLong();
    }

    boolean allowed() {
        return wanted && nanoTime.getAsLong() - againNanos >= 0;
    }

    void worked() {
        nextBreak = FIRST_BREAK;
    }

    /** Copies that were under way together fail together, and count once. */
    synchronized void failed() {
        if (allowed()) {
            againNanos = nanoTime.getAsLong() + nextBreak.toNanos();
            Duration doubled = nextBreak.multipliedBy(2);
            nextBreak = doubled.compareTo(LONGEST_BREAK) < 0 ? doubled : LONGEST_BREAK;
        }
    }
}
