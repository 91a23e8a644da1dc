// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.util.Map;
import java.util.TreeMap;

/**
 * The contiguous range of what a quorum holds of one partition within one leader epoch: every offset of the log from
 * its start to its end is stored. It begins anew where the upload skips ahead. Copies of one partition run in parallel
 * and finish in any order; ranges may overlap, since a copy that was given up is read and copied again. Thread-safe.
 */
final class WalEnd {
    private long start;
    private long end;
    /** Stored ranges beyond a gap: start to end, exclusive; disjoint and not touching each other. */
    private final TreeMap<Long, Long> ahead = new TreeMap<>();

    /** @param start where the upload begins */
    WalEnd(long start) {
        this.start = start;
        end = start;
    }

    /** The first offset of the range, which is empty where that is its end. */
    synchronized long start() {
        return start;
    }

    /** The first offset after the range. */
    synchronized long get() {
        return end;
    }

    /** Notes that [from, to) is stored. */
    synchronized void stored(long from, long to) {
        if (to <= end) {
            return;
        }
        long first = from;
        long stop = to;
        Map.Entry<Long, Long> before = ahead.floorEntry(first);
        if (before != null && before.getValue() >= first) {
            first = before.getKey();
        }
        Map.Entry<Long, Long> next = ahead.ceilingEntry(first);
        while (next != null && next.getKey() <= stop) {
            stop = Math.max(stop, next.getValue());
            ahead.remove(next.getKey());
            next = ahead.ceilingEntry(first);
        }
        if (first <= end) {
            end = stop;
        } else {
            ahead.put(first, stop);
        }
    }

    /** Notes that the log now starts at offset: nothing below it is wanted any more. */
    synchronized void logStart(long offset) {
        stored(Math.min(end, offset), offset);
        start = Math.max(start, offset);
    }

    /** Begins anew at offset: nothing that is stored or under way reaches beyond it. */
    synchronized void restart(long offset) {
        ahead.clear();
        start = offset;
        end = offset;
    }
}
