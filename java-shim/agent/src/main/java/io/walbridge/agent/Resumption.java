// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteWalStorageManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Settles what checkpoints of an earlier start claim to be stored. A claim is believed once its section has been read
 * back from the WAL and is, where the log still has it, the log's own bytes; it is forgotten where that fails. While
 * the storage does not answer it is undecided, and nothing of its partition is uploaded; after a while it is forgotten.
 */
final class Resumption {
    private static final Logger LOG = LoggerFactory.getLogger(Resumption.class);

    private final RemoteWalStorageManager storage;
    private final StoredEnds proven;
    private final StoredEnds claims = new StoredEnds();
    private final Executor executor;
    private final LogThrottle throttle;
    private final Duration patience;
    private final Runnable onSettled;
    private final Set<StoredEnd> beingRead = ConcurrentHashMap.newKeySet();
    private final Map<StoredEnd, Long> firstFailures = new ConcurrentHashMap<>();
    private final AtomicLong settled = new AtomicLong();

    /**
     * @param proven what has been proven is put there
     * @param executor reads sections back, on threads that are never interrupted: an interrupt would close a log's file
     * @param patience how long a claim that cannot be read back may hold up its partition
     * @param onSettled called when a claim has been settled, on a thread of executor
     */
    Resumption(RemoteWalStorageManager storage, StoredEnds proven, Executor executor, LogThrottle throttle,
               Duration patience, Runnable onSettled) {
        this.storage = storage;
        this.proven = proven;
        this.executor = executor;
        this.throttle = throttle;
        this.patience = patience;
        this.onSettled = onSettled;
    }

    /** Takes a claim, unless this process knows better: what it has stored itself needs no proof. */
    void claim(StoredEnd claim) {
        if (proven.get(claim.id()) != null) {
            return;
        }
        StoredEnd other = claims.get(claim.id());
        if (other == null || other.section().leaderEpoch() < claim.section().leaderEpoch()
                || other.section().leaderEpoch() == claim.section().leaderEpoch() && other.offset() < claim.offset()) {
            claims.put(claim);
        }
    }

    /** What is not settled yet. */
    List<StoredEnd> claims() {
        return claims.all();
    }

    /** Grows when a claim has been settled. */
    long settled() {
        return settled.get();
    }

    /** Whether there is a claim for the partition that is not settled yet. Has it read back, off this thread. */
    boolean unsettled(LedPartition led) {
        StoredEnd claim = claims.get(led.id());
        if (claim != null && beingRead.add(claim)) {
            try {
                executor.execute(() -> settle(led, claim));
            } catch (RuntimeException | Error e) {
                beingRead.remove(claim);
                throw e;
            }
        }
        return claim != null;
    }

    private void settle(LedPartition led, StoredEnd claim) {
        try {
            boolean holds = holds(led, claim);
            if (!led.stillLed()) {
                return;
            }
            if (holds) {
                proven.put(claim);
            } else {
                LOG.warn("The WAL does not hold what the checkpoint says of {}; uploading its log from the start", led);
            }
            forget(claim);
        } catch (IOException | RemoteStorageException | RuntimeException | Error e) {
            long now = System.nanoTime();
            Long first = firstFailures.putIfAbsent(claim, now);
            if (first != null && now - first >= patience.toNanos()) {
                LOG.warn("Cannot read back what the checkpoint says of {}; uploading its log from the start", led, e);
                forget(claim);
            } else if (throttle.allows(Resumption.class)) {
                LOG.warn("Cannot read back what the checkpoint says of {}; trying again: {}", led, e.toString());
                LOG.debug("The reason", e);
            }
        } finally {
            beingRead.remove(claim);
        }
    }

    private void forget(StoredEnd claim) {
        claims.remove(claim.id());
        firstFailures.remove(claim);
        settled.incrementAndGet();
        onSettled.run();
    }

    /** Whether the claim's section is in the WAL, and the log's own where the claim means that the log has it. */
    private boolean holds(LedPartition led, StoredEnd claim) throws IOException, RemoteStorageException {
        RemoteWalLogSegmentMetadata section = claim.section();
        ByteBuffer stored;
        try (InputStream in = storage.fetchLogSegment(section, 0, Integer.MAX_VALUE)) {
            stored = ByteBuffer.wrap(in.readAllBytes());
        } catch (RemoteResourceNotFoundException e) {
            return false;
        }
        List<RecordBatches.Run> runs = RecordBatches.split(stored);
        if (runs.size() != 1 || !runs.get(0).bytes().equals(stored)
                || runs.get(0).baseOffset() != section.startOffset()
                || runs.get(0).lastOffset() != section.endOffset()) {
            return false;
        }
        long logStart = led.logStartOffset();
        NavigableMap<Integer, Long> lineage = led.lineage().headMap(led.leaderEpoch(), true);
        boolean logHasIt = section.startOffset() >= logStart
                && section.endOffset() < claim.within(lineage, logStart, led.logEndOffset());
        return !logHasIt || led.read(section.startOffset(), stored.remaining()).equals(stored);
    }
}
