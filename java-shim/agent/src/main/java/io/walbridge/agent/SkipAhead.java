// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Decides which partitions skip ahead to their log's end, since too much waits in the logs: those with most first,
 * until the rest fits. Followers have read by then what lies behind, and what they read next is at the log's end.
 */
final class SkipAhead {
    private SkipAhead() {}

    /**
     * What of a partition's log is not read yet.
     *
     * @param bytes from the next offset that is to be read to the log's end
     * @param end the log's end
     */
    record Unread(WalPartition partition, long bytes, long end) {}

    /** Those that skip, so that the others together have no more than max bytes. */
    static List<Unread> choose(List<Unread> all, long max) {
        List<Unread> largestFirst = new ArrayList<>(all);
        largestFirst.sort(Comparator.comparingLong(Unread::bytes).reversed());
        long left = all.stream().mapToLong(Unread::bytes).sum();
        int chosen = 0;
        while (left > max) {
            left -= largestFirst.get(chosen).bytes();
            chosen++;
        }
        return largestFirst.subList(0, chosen);
    }
}
