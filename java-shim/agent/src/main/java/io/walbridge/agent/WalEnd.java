// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.util.Map;
import java.util.TreeMap;

/**
 * The contiguous end of what a quorum holds of one partition within one leader epoch: every offset of the log below
 * it is stored. Copies of one partition run in parallel and finish in any order; ranges may overlap, since a copy
 * that was given up is read and copied again. Thread-safe.
 */
final class WalEnd {
    private long end;
    /** Stored ranges beyond a gap: start to end, exclusive; disjoint and not touching each other. */
    private final TreeMap<Long, Long> ahead = new TreeMap<>();

    /** @param start everything below is stored, or is not wanted */
    WalEnd(long start) {
        end = start;
    }

    synchronized long get() {
        return end;
    }

    /** Notes that [from, to) is stored. */
    synchronized void stored(long from, long to) {
        if (to <= end) {
            return;
        }
        long start = from;
        long stop = to;
        Map.Entry<Long, Long> before = ahead.floorEntry(start);
        if (before != null && before.getValue() >= start) {
            start = before.getKey();
        }
        Map.Entry<Long, Long> next = ahead.ceilingEntry(start);
        while (next != null && next.getKey() <= stop) {
            stop = Math.max(stop, next.getValue());
            ahead.remove(next.getKey());
            next = ahead.ceilingEntry(start);
        }
        if (start <= end) {
            end = stop;
        } else {
            ahead.put(start, stop);
        }
    }

    /** Notes that the log now starts at offset: nothing below it is wanted any more. */
    synchronized void logStart(long offset) {
        stored(Math.min(end, offset), offset);
    }
}
