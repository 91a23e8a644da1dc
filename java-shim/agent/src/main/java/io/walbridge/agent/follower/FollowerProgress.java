// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import java.time.Duration;

/**
 * How one follower gets on with one partition, as the leader sees it: what decides whether records are kept from it.
 * Nothing here waits; of two threads that meet, either may win.
 */
final class FollowerProgress {
    /** How long a follower may stay at an offset with its records kept from it; well below replica.lag.time.max.ms. */
    static final Duration PATIENCE = Duration.ofSeconds(1);
    /** How long it then gets records as ever. */
    static final Duration REST = Duration.ofSeconds(5);

    private volatile boolean marked;
    private volatile long offset = -1;
    /** Since when its records are kept from it at this offset; meaningless unless {@link #kept}. */
    private volatile long keptSinceNanos;
    private volatile boolean kept;
    private volatile long restUntilNanos;
    private volatile boolean resting;

    /** It has fetched from the offset. With a mark: its agent takes pointers. */
    void fetched(long from, boolean withMark) {
        marked = withMark;
        if (from != offset) {
            offset = from;
            kept = false;
        }
    }

    boolean marked() {
        return marked;
    }

    long offset() {
        return offset;
    }

    /** Whether its records may be kept from it now. The first time in vain at an offset starts the clock. */
    boolean patient(long nowNanos) {
        if (resting) {
            if (nowNanos - restUntilNanos < 0) {
                return false;
            }
            resting = false;
            kept = false;
        }
        if (!kept) {
            keptSinceNanos = nowNanos;
            kept = true;
        } else if (nowNanos - keptSinceNanos >= PATIENCE.toNanos()) {
            restUntilNanos = nowNanos + REST.toNanos();
            resting = true;
            return false;
        }
        return true;
    }
}
