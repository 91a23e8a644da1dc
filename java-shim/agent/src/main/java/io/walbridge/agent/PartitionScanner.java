// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Starts an {@link RLMWalTask} for every partition that has something to read, as soon as there is room for it. It
 * sleeps until an append or a change of leadership, so that partitions that do not grow cost nothing, and then looks
 * every millisecond at those that have grown.
 */
final class PartitionScanner implements Runnable {
    private static final Duration BUSY = Duration.ofMillis(1);
    /** While there is something to read and it cannot be read: no room, or a partition at rest. */
    private static final Duration BLOCKED = Duration.ofMillis(10);
    /** How late a change of leadership may be noticed. */
    private static final Duration IDLE = Duration.ofMillis(100);
    private static final Duration BUSY_FOR = Duration.ofMillis(50);
    /** For what no append and no change of leadership announces: a log in another directory, a topic now compacted. */
    private static final Duration REFRESH = Duration.ofSeconds(5);

    private static final Logger LOG = LoggerFactory.getLogger(PartitionScanner.class);

    private final LedPartitions partitions;
    private final Growth growth;
    private final BlockingQueue<WalSection> queue;
    private final Backlog backlog;
    private final Executor readers;
    private final CopyMetrics metrics;
    private final LogThrottle throttle;
    private final CountDownLatch stopped = new CountDownLatch(1);
    /** The partitions with something to read, those first that have waited longest. */
    private final Set<WalPartition> unread = new LinkedHashSet<>();
    private long nextRefresh = System.nanoTime();
    private long lastRead = nextRefresh;

    PartitionScanner(LedPartitions partitions, Growth growth, BlockingQueue<WalSection> queue, Backlog backlog,
                     Executor readers, CopyMetrics metrics, LogThrottle throttle) {
        this.partitions = partitions;
        this.growth = growth;
        this.queue = queue;
        this.backlog = backlog;
        this.readers = readers;
        this.metrics = metrics;
        this.throttle = throttle;
    }

    /** Makes run return soon. */
    void stop() {
        stopped.countDown();
    }

    @Override
    public void run() {
        try {
            do {
                if (unread.isEmpty()) {
                    growth.await(IDLE);
                }
                try {
                    scan(System.nanoTime());
                } catch (RuntimeException | Error e) {
                    if (throttle.allows(PartitionScanner.class)) {
                        LOG.warn("Cannot look for what to store in the WAL; trying again", e);
                    }
                }
            } while (!stopped.await(pause().toNanos(), TimeUnit.NANOSECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Duration pause() {
        return unread.isEmpty() || System.nanoTime() - lastRead < BUSY_FOR.toNanos() ? BUSY : BLOCKED;
    }

    private void scan(long now) {
        if (now - nextRefresh >= 0) {
            nextRefresh = now + REFRESH.toNanos();
            partitions.refresh();
        } else {
            partitions.refreshIfChanged();
        }
        growth.drainTo(unread);
        unread.removeIf(partition -> !partition.hasUnread());
        List<WalPartition> submitted = new ArrayList<>();
        for (WalPartition partition : unread) {
            if (queue.remainingCapacity() == 0 || !backlog.hasRoom(RLMWalTask.READ_BYTES)) {
                break;
            }
            if (partition.readable(now)) {
                submitted.add(partition);
                partition.readerSubmitted();
                submit(partition);
                lastRead = now;
            }
        }
        submitted.forEach(unread::remove);
        unread.addAll(submitted);
    }

    private void submit(WalPartition partition) {
        try {
            readers.execute(new RLMWalTask(partition, queue, backlog, metrics, throttle));
        } catch (RuntimeException | Error e) {
            partition.readerReturned(); // No thread could be made: another pass tries again.
            throw e;
        }
    }
}
