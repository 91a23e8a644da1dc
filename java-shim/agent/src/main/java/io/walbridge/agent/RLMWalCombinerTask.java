// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * KIP-1176's RLMWalCombinerTask: copies whatever is queued as one combined log segment, and never waits for more: the
 * scanner and the daemon do. Many run at once, each taking a step at a time.
 *
 * <p>A copy that fails is tried again in halves, so that one section that the storage refuses cannot hold up the
 * others; when the storage comes back after an outage this costs a handful of extra copies. A single section that keeps
 * failing is given up: its partition rests and then reads it again from the log.
 *
 * <p>A section stays in a field until it is stored or given up, so that none is lost whatever a step throws.
 */
final class RLMWalCombinerTask implements UntilStopped.Step {
    private static final long FIRST_BACKOFF_MS = 100;
    private static final long MAX_BACKOFF_MS = 1_000;
    private static final int MAX_ATTEMPTS = 8;
    private static final Duration REST_AFTER_GIVING_UP = Duration.ofSeconds(5);

    private static final Logger LOG = LoggerFactory.getLogger(RLMWalCombinerTask.class);

    private final SectionQueue queue;
    private final CombinedCopy copy;
    private final Buffered buffered;
    private final FromFiles fromFiles;
    private final CopyMetrics metrics;
    private final LogThrottle throttle;
    private final int maxBytes;
    /** What is to be copied, a batch as one copy, the first one next. */
    private final Deque<List<WalSection>> batches = new ArrayDeque<>();
    /** Of the first batch, where that is a single section. */
    private int attempts;
    private int failuresInARow;

    RLMWalCombinerTask(SectionQueue queue, CombinedCopy copy, Buffered buffered, FromFiles fromFiles,
                       CopyMetrics metrics, LogThrottle throttle, int maxBytes) {
        this.queue = queue;
        this.copy = copy;
        this.buffered = buffered;
        this.fromFiles = fromFiles;
        this.metrics = metrics;
        this.throttle = throttle;
        this.maxBytes = maxBytes;
    }

    /** Copies the next batch once. An interrupt ends the waiting, and the copying where the storage lets it. */
    @Override
    public void take() throws InterruptedException {
        if (batches.isEmpty()) {
            nextBatch();
        }
        List<WalSection> batch = batches.peek();
        try {
            List<StoredSection> stored = copy.copy(batch);
            stored.forEach(one -> one.section().partition().stored(one.section(), one.metadata()));
            metrics.copied(stored);
        } catch (RemoteStorageException | RuntimeException | Error e) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            failed(batch, e);
            Thread.sleep(backoffMs());
            return;
        }
        failuresInARow = 0;
        if (batch.get(0).inFile() != null) {
            fromFiles.worked();
        }
        done(batch);
    }

    private void nextBatch() throws InterruptedException {
        List<WalSection> batch = queue.take(maxBytes);
        batches.add(batch);
        attempts = 0;
        batch.forEach(section -> section.partition().sectionTaken());
    }

    private void halve(List<WalSection> batch) {
        List<WalSection> first = batch.subList(0, batch.size() / 2);
        List<WalSection> second = batch.subList(batch.size() / 2, batch.size());
        batches.poll();
        batches.push(second);
        batches.push(first);
        attempts = 0;
    }

    /** Has those sections of the batch read from the log that have not been; the others stay the next batch. */
    private void readAgain(List<WalSection> batch) {
        fromFiles.failed();
        List<WalSection> read = new ArrayList<>();
        batches.poll();
        for (WalSection section : batch) {
            if (section.inFile() == null) {
                read.add(section);
            } else {
                metrics.skipped(section.partition().givenUp(section, Duration.ZERO), section);
            }
        }
        if (!read.isEmpty()) {
            batches.push(read);
        }
        attempts = 0;
    }

    private void done(List<WalSection> batch) {
        batches.poll();
        attempts = 0;
        batch.forEach(section -> buffered.release(section.reserved()));
    }

    /** Decides what comes next before it tells of the failure: the telling may fail as well. */
    private void failed(List<WalSection> batch, Throwable failure) {
        metrics.failed();
        failuresInARow++;
        attempts++;
        if (batch.stream().anyMatch(section -> section.inFile() != null)) {
            readAgain(batch);
        } else if (batch.size() > 1) {
            halve(batch);
        } else if (attempts >= MAX_ATTEMPTS) {
            WalSection section = batch.get(0);
            metrics.skipped(section.partition().givenUp(section, REST_AFTER_GIVING_UP), section);
            done(batch);
        }
        if (throttle.allows(RLMWalCombinerTask.class)) {
            LOG.warn("Cannot copy {} sections to the WAL, {} from offset {} on among them; trying again: {}",
                    batch.size(), batch.get(0).partition(), batch.get(0).from(), failure.toString());
            LOG.debug("The reason", failure);
        }
    }

    private long backoffMs() {
        long most = Math.min(FIRST_BACKOFF_MS << Math.min(failuresInARow - 1, 10), MAX_BACKOFF_MS);
        return most / 2 + ThreadLocalRandom.current().nextLong(most / 2 + 1);
    }
}
