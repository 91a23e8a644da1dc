// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.time.Duration;
import java.util.Collection;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * The partitions whose logs have grown, from the threads that append to the one that reads. Appending threads never
 * wait here. Holds each partition about once, see {@link WalPartition#grew}.
 */
final class Growth {
    private final Queue<WalPartition> grown = new ConcurrentLinkedQueue<>();
    /** When the first of them grew, milliseconds since 1970; 0 where nobody has. */
    private volatile long since;
    private volatile Thread waiting;
    private volatile boolean woken;

    void add(WalPartition partition) {
        if (since == 0) {
            since = System.currentTimeMillis();
        }
        grown.add(partition);
        LockSupport.unpark(waiting);
    }

    /** Moves what has grown since the last time, and returns when the first of that grew, in milliseconds since 1970. */
    long drainTo(Collection<WalPartition> partitions) {
        long first = since == 0 ? System.currentTimeMillis() : since;
        since = 0;
        for (WalPartition partition = grown.poll(); partition != null; partition = grown.poll()) {
            partition.growthSeen();
            partitions.add(partition);
        }
        return first;
    }

    /** Ends the waiting, or the next one, though nothing has grown. */
    void wake() {
        woken = true;
        LockSupport.unpark(waiting);
    }

    /** Waits until something has grown or wake is called, or for the time, or for no reason. For one thread. */
    void await(Duration atMost) {
        waiting = Thread.currentThread();
        if (grown.isEmpty() && !woken) {
            LockSupport.parkNanos(this, atMost.toNanos());
        }
        waiting = null;
        woken = false; // Before the thread looks at what it was woken for.
    }
}
