// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import io.walbridge.agent.LedPartition;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * What the WAL holds of one partition, of all that was stored while this broker has led it in one leader epoch: in that
 * time the log is not truncated, so it holds the same. Knows the newest only. Thread-safe.
 */
final class PartitionPointers {
    private static final int MAX_POINTERS = 1024;

    private final LedPartition led;
    private final NavigableMap<Long, Pointer> byBaseOffset = new ConcurrentSkipListMap<>();
    private final Map<Integer, FollowerProgress> followers = new ConcurrentHashMap<>();
    private int count;
    /** The first and the last of them: a follower that keeps up asks for the last, or for what comes after it. */
    private volatile Pointer first;
    private volatile Pointer last;

    PartitionPointers(LedPartition led) {
        this.led = led;
    }

    LedPartition led() {
        return led;
    }

    /** How the follower with that broker id gets on. */
    FollowerProgress follower(int id) {
        FollowerProgress known = followers.get(id);
        return known != null ? known : followers.computeIfAbsent(id, any -> new FollowerProgress());
    }

    synchronized void add(Pointer pointer) {
        if (byBaseOffset.put(pointer.baseOffset(), pointer) == null && ++count > MAX_POINTERS) {
            byBaseOffset.pollFirstEntry();
            count--;
        }
        first = byBaseOffset.firstEntry().getValue();
        last = byBaseOffset.lastEntry().getValue();
    }

    /** Whether the WAL holds the offset. */
    boolean holds(long offset) {
        return holding(offset) != null;
    }

    /** Whether the offset comes after what is known here, so that the WAL may hold it soon. */
    boolean expects(long offset) {
        Pointer oldest = first;
        return oldest != null && offset >= oldest.baseOffset();
    }

    /** Pointers from the offset on without a gap, to as many bytes at most, but to at least one section. */
    List<Pointer> from(long offset, long maxBytes) {
        List<Pointer> pointers = new ArrayList<>(1);
        Pointer next = holding(offset);
        long bytes = 0;
        while (next != null && (pointers.isEmpty() || bytes + next.length() <= maxBytes)) {
            bytes += next.length();
            pointers.add(next);
            long after = next.lastOffset() + 1;
            next = holding(after);
            if (next != null && next.baseOffset() != after) {
                break; // It overlaps what is pointed to already.
            }
        }
        return pointers;
    }

    private Pointer holding(long offset) {
        Pointer newest = last;
        if (newest == null || offset > newest.lastOffset()) {
            return null;
        }
        if (offset >= newest.baseOffset()) {
            return newest;
        }
        Map.Entry<Long, Pointer> floor = byBaseOffset.floorEntry(offset);
        return floor != null && floor.getValue().lastOffset() >= offset ? floor.getValue() : null;
    }
}
