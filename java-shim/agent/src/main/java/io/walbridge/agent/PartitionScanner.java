// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Watches what this broker leads and how far the logs have grown, and starts an {@link RLMWalTask} where there is
 * something to read and room for it. One thread that compares two numbers per partition costs far less than a timer per
 * partition: partitions that grew lately are looked at every millisecond, all of them every ten.
 */
final class PartitionScanner implements Runnable {
    private static final Duration BUSY_SCAN = Duration.ofMillis(1);
    private static final Duration FULL_SCAN = Duration.ofMillis(10);
    private static final Duration LEADERSHIP_SCAN = Duration.ofMillis(100);
    private static final Duration BUSY_FOR = Duration.ofMillis(100);

    private static final Logger LOG = LoggerFactory.getLogger(PartitionScanner.class);

    private final LedPartitions partitions;
    private final BlockingQueue<WalSection> queue;
    private final Backlog backlog;
    private final Executor readers;
    private final LogThrottle throttle;
    private final CountDownLatch stopped = new CountDownLatch(1);
    /** Partitions that grew lately, and until when that counts. */
    private final Map<WalPartition, Long> busy = new HashMap<>();
    private int cursor;

    PartitionScanner(LedPartitions partitions, BlockingQueue<WalSection> queue, Backlog backlog, Executor readers,
                     LogThrottle throttle) {
        this.partitions = partitions;
        this.queue = queue;
        this.backlog = backlog;
        this.readers = readers;
        this.throttle = throttle;
    }

    /** Makes run return soon. */
    void stop() {
        stopped.countDown();
    }

    @Override
    public void run() {
        long nextLeadershipScan = System.nanoTime();
        long nextFullScan = nextLeadershipScan;
        try {
            do {
                long now = System.nanoTime();
                try {
                    if (now - nextLeadershipScan >= 0) {
                        nextLeadershipScan = now + LEADERSHIP_SCAN.toNanos();
                        partitions.refresh();
                    }
                    if (now - nextFullScan >= 0) {
                        nextFullScan = now + FULL_SCAN.toNanos();
                        busy.values().removeIf(until -> now - until >= 0);
                        scan(partitions.current(), now);
                    } else {
                        scan(List.copyOf(busy.keySet()), now);
                    }
                } catch (RuntimeException | Error e) {
                    if (throttle.allows(PartitionScanner.class)) {
                        LOG.warn("Cannot look for what to store in the WAL; trying again", e);
                    }
                }
            } while (!stopped.await((busy.isEmpty() ? FULL_SCAN : BUSY_SCAN).toNanos(), TimeUnit.NANOSECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Begins after the partition that found no room the last time, so that all of them get their turn. */
    private void scan(List<WalPartition> candidates, long now) {
        int count = candidates.size();
        for (int i = 0; i < count; i++) {
            WalPartition partition = candidates.get((cursor + i) % count);
            if (partition.readable(now)) {
                if (queue.remainingCapacity() == 0 || !backlog.hasRoom(RLMWalTask.READ_BYTES)) {
                    cursor = (cursor + i) % count;
                    return;
                }
                busy.put(partition, now + BUSY_FOR.toNanos());
                partition.readerSubmitted();
                readers.execute(new RLMWalTask(partition, queue, backlog, throttle));
            }
        }
    }
}
