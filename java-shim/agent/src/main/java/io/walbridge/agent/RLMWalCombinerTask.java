// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ThreadLocalRandom;

/**
 * KIP-1176's RLMWalCombinerTask: copies whatever is queued as one combined log segment, and never waits for more; the
 * daemon does that. Many run at once. An interrupt ends it.
 *
 * <p>A copy that fails is tried again in halves, so that one section that the storage refuses cannot hold up the
 * others; when the storage comes back after an outage this costs a handful of extra copies. A single section that keeps
 * failing is given up: its partition rests and then reads it again from the log. Nothing is skipped.
 */
final class RLMWalCombinerTask implements Runnable {
    private static final long FIRST_BACKOFF_MS = 100;
    private static final long MAX_BACKOFF_MS = 1_000;
    private static final int MAX_ATTEMPTS = 8;
    private static final Duration REST_AFTER_GIVING_UP = Duration.ofSeconds(5);

    private static final Logger LOG = LoggerFactory.getLogger(RLMWalCombinerTask.class);

    private final BlockingQueue<WalSection> queue;
    private final CombinedCopy copy;
    private final Backlog backlog;
    private final CopyMetrics metrics;
    private final LogThrottle throttle;
    private final int maxBytes;
    private WalSection heldOver;
    private int failuresInARow;

    RLMWalCombinerTask(BlockingQueue<WalSection> queue, CombinedCopy copy, Backlog backlog, CopyMetrics metrics,
                       LogThrottle throttle, int maxBytes) {
        this.queue = queue;
        this.copy = copy;
        this.backlog = backlog;
        this.metrics = metrics;
        this.throttle = throttle;
        this.maxBytes = maxBytes;
    }

    @Override
    public void run() {
        try {
            while (true) {
                copy(take());
            }
        } catch (InterruptedException e) {
            LOG.debug("{} ends", Thread.currentThread().getName());
        }
    }

    /** Waits for a section and takes those behind it, up to the bound; a single section may be larger. */
    private List<WalSection> take() throws InterruptedException {
        List<WalSection> taken = new ArrayList<>();
        WalSection section = heldOver != null ? heldOver : received(queue.take());
        heldOver = null;
        long bytes = 0;
        while (section != null) {
            bytes += section.sizeInBytes();
            if (bytes > maxBytes && !taken.isEmpty()) {
                heldOver = section;
                break;
            }
            taken.add(section);
            section = received(queue.poll());
        }
        return taken;
    }

    private static WalSection received(WalSection section) {
        if (section != null) {
            section.partition().sectionTaken();
        }
        return section;
    }

    private void copy(List<WalSection> sections) throws InterruptedException {
        for (int attempt = 1; !copied(sections); attempt++) {
            Thread.sleep(backoffMs());
            if (sections.size() > 1) {
                int half = sections.size() / 2;
                copy(sections.subList(0, half));
                copy(sections.subList(half, sections.size()));
                return;
            }
            if (attempt == MAX_ATTEMPTS) {
                sections.get(0).partition().givenUp(sections.get(0), REST_AFTER_GIVING_UP);
                break;
            }
        }
        sections.forEach(section -> backlog.release(section.reserved()));
    }

    private boolean copied(List<WalSection> sections) throws InterruptedException {
        try {
            List<StoredSection> stored = copy.copy(sections);
            stored.forEach(one -> one.section().partition().stored(one.section(), one.metadata()));
            metrics.copied(stored);
            failuresInARow = 0;
            return true;
        } catch (RemoteStorageException | RuntimeException | Error e) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            metrics.failed();
            failuresInARow++;
            if (throttle.allows(RLMWalCombinerTask.class)) {
                LOG.warn("Cannot copy {} sections to the WAL, {} from offset {} on among them; trying again: {}",
                        sections.size(), sections.get(0).partition(), sections.get(0).from(), e.toString());
                LOG.debug("The reason", e);
            }
            return false;
        }
    }

    private long backoffMs() {
        long most = Math.min(FIRST_BACKOFF_MS << Math.min(failuresInARow - 1, 10), MAX_BACKOFF_MS);
        return most / 2 + ThreadLocalRandom.current().nextLong(most / 2 + 1);
    }
}
