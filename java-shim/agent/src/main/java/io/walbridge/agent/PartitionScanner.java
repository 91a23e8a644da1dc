// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;

/**
 * Makes {@link RLMWalTask}s for the partitions that have something to read, as soon as there is room for it. It
 * sleeps until an append or a change of leadership, so that partitions that do not grow cost nothing, and then looks,
 * once in a linger, at those that have grown. Its thread must never be interrupted, since it looks into logs.
 */
final class PartitionScanner implements UntilStopped.Step {
    /** How often it looks about where nobody wakes it. */
    private static final Duration IDLE = Duration.ofSeconds(1);
    /** For what no change of leadership announces: a log in another directory, a topic now compacted. */
    private static final Duration REFRESH = Duration.ofSeconds(5);
    /** The same while no log grows: to look at a thousand partitions takes more than an idle broker does. */
    private static final Duration IDLE_REFRESH = Duration.ofSeconds(60);
    private static final Duration MEASURE = Duration.ofSeconds(1);
    /** Of one task: what is read with one task goes as one copy, where it fits. */
    private static final int TASK_PARTITIONS = 128;

    private static final Logger LOG = LoggerFactory.getLogger(PartitionScanner.class);

    private final LedPartitions partitions;
    private final Growth growth;
    private final SectionQueue queue;
    private final Buffered buffered;
    private final FromFiles fromFiles;
    private final long maxBacklog;
    private final long lingerMs;
    private final Executor readers;
    private final CopyMetrics metrics;
    private final LogThrottle throttle;
    /** The partitions with something to read, those first that have waited longest. */
    private final Set<WalPartition> unread = new LinkedHashSet<>();
    private long refreshed = System.nanoTime();
    private boolean grown = true;
    private long nextMeasure = refreshed;

    PartitionScanner(LedPartitions partitions, Growth growth, SectionQueue queue, Buffered buffered,
                     FromFiles fromFiles, long maxBacklog, long lingerMs, Executor readers, CopyMetrics metrics,
                     LogThrottle throttle) {
        this.partitions = partitions;
        this.growth = growth;
        this.queue = queue;
        this.buffered = buffered;
        this.fromFiles = fromFiles;
        this.maxBacklog = maxBacklog;
        this.lingerMs = lingerMs;
        this.readers = readers;
        this.metrics = metrics;
        this.throttle = throttle;
    }

    @Override
    public void take() throws InterruptedException {
        if (unread.isEmpty()) {
            growth.await(IDLE);
        }
        scan(System.nanoTime());
        Thread.sleep(lingerMs);
    }

    private void scan(long now) {
        if (now - refreshed >= (grown ? REFRESH : IDLE_REFRESH).toNanos()) {
            refreshed = now;
            grown = false;
            partitions.refresh();
        } else {
            partitions.refreshIfChanged();
        }
        long since = growth.drainTo(unread);
        grown |= !unread.isEmpty();
        unread.removeIf(partition -> !partition.hasUnread());
        if (now - nextMeasure >= 0) {
            nextMeasure = now + MEASURE.toNanos();
            skipAhead();
        }
        if (!queue.hasRoom() || !buffered.hasRoom(RLMWalTask.READ_BYTES)) {
            return;
        }
        List<WalPartition> readable = new ArrayList<>();
        for (WalPartition partition : unread) {
            if (partition.readable(now)) {
                readable.add(partition);
            }
        }
        for (int from = 0; from < readable.size(); from += TASK_PARTITIONS) {
            List<WalPartition> some = readable.subList(from, Math.min(from + TASK_PARTITIONS, readable.size()));
            takeUp(some, since);
            some.forEach(unread::remove);
            unread.addAll(some);
        }
    }

    /** Where too much waits in the logs, lets replicated partitions skip it. A single replica never does. */
    private void skipAhead() {
        List<SkipAhead.Unread> measured = new ArrayList<>();
        for (WalPartition partition : unread) {
            try {
                measure(partition).ifPresent(measured::add);
            } catch (RuntimeException e) {
                LOG.debug("Cannot tell how much of {} is unread", partition, e); // Reading it will say why.
            }
        }
        for (SkipAhead.Unread skip : SkipAhead.choose(measured, maxBacklog)) {
            long records = skip.partition().skipTo(skip.end());
            metrics.skipped(records, skip.bytes());
            if (throttle.allows(SkipAhead.class)) {
                LOG.warn("The WAL is too far behind: {} skips {} bytes of its log, up to offset {}, and others may do "
                        + "so; SkippedRecords counts them", skip.partition(), skip.bytes(), skip.end());
            }
        }
    }

    private static Optional<SkipAhead.Unread> measure(WalPartition partition) {
        LedPartition led = partition.led();
        if (!led.replicated()) {
            return Optional.empty();
        }
        long end = led.logEndOffset();
        return Optional.of(new SkipAhead.Unread(partition, led.bytesFrom(partition.next()), end));
    }

    private void takeUp(List<WalPartition> some, long since) {
        RLMWalTask task = new RLMWalTask(some, since, queue, buffered, metrics, throttle);
        if (fromFiles.allowed() && task.find()) {
            return;
        }
        try {
            readers.execute(task);
        } catch (RuntimeException | Error e) {
            task.drop(); // No thread could be made: another pass tries again.
            throw e;
        }
    }
}
