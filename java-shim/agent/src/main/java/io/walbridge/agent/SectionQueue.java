// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.locks.LockSupport;

/**
 * The sections that wait for a combiner, in the order in which they were read. What goes in together wakes one
 * combiner, and it takes all of that. Bounded, and thread-safe.
 */
final class SectionQueue {
    private final int max;
    private final Queue<WalSection> waiting = new ArrayDeque<>();
    /** The combiners with nothing to do. Who came last is woken first: the processor still has what it works with. */
    private final Deque<Thread> idle = new ArrayDeque<>();

    SectionQueue(int max) {
        this.max = max;
    }

    /** Adds the first of sections, as many as there is room for, and returns how many those are. */
    synchronized int offer(List<WalSection> sections) {
        int fit = Math.min(sections.size(), max - waiting.size());
        waiting.addAll(sections.subList(0, fit));
        if (fit > 0) {
            LockSupport.unpark(idle.pollLast());
        }
        return fit;
    }

    /** Waits for a section and takes those behind it, up to maxBytes; a single section may be larger. */
    List<WalSection> take(int maxBytes) throws InterruptedException {
        while (true) {
            synchronized (this) {
                idle.remove(Thread.currentThread()); // It is still there where nobody has woken it.
                if (!waiting.isEmpty()) {
                    return first(maxBytes);
                }
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                idle.add(Thread.currentThread());
            }
            LockSupport.park(this);
        }
    }

    private List<WalSection> first(int maxBytes) {
        List<WalSection> taken = new ArrayList<>();
        long bytes = 0;
        for (WalSection next = waiting.peek();
                next != null && (taken.isEmpty() || bytes + next.sizeInBytes() <= maxBytes);
                next = waiting.peek()) {
            taken.add(waiting.poll());
            bytes += next.sizeInBytes();
        }
        if (!waiting.isEmpty()) {
            LockSupport.unpark(idle.pollLast()); // Whoever offered these woke only this one.
        }
        return taken;
    }

    synchronized boolean hasRoom() {
        return waiting.size() < max;
    }
}
