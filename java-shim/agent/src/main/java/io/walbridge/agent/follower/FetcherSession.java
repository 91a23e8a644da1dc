// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import org.apache.kafka.common.TopicPartition;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/** What one thread that fetches from a leader has been offered, and has begun to read from the WAL. For that thread. */
final class FetcherSession {
    /** How long the leader is not asked for pointers after the WAL has failed here. */
    private static final Duration REST = Duration.ofSeconds(5);
    /** How long one section may take. */
    private static final Duration PATIENCE = Duration.ofMillis(500);

    /** A section on its way. */
    private record Pending(Future<ByteBuffer> section, long sinceNanos) {}

    private Map<TopicPartition, Offer> offers = Map.of();
    private Map<Pointer, Pending> pending = new HashMap<>();
    private boolean fetching;
    private boolean resting;
    private long restUntilNanos;
    private long waitedNanos;

    void begin() {
        fetching = true;
        offers = Map.of();
        waitedNanos = 0;
    }

    void end() {
        fetching = false;
    }

    boolean fetching() {
        return fetching;
    }

    /** @param topicNames by the topics' ids */
    void offered(List<Offer> all, Map<?, ?> topicNames) {
        offers = new LinkedHashMap<>();
        for (Offer offer : all) {
            if (topicNames.get(offer.topicId()) instanceof String topic) {
                offers.put(new TopicPartition(topic, offer.partition()), offer);
            }
        }
    }

    Map<TopicPartition, Offer> offers() {
        return offers;
    }

    /**
     * Begins to read what is offered, unless it is being read, and forgets what no longer is offered.
     *
     * @param read begins to read sections
     */
    void prefetch(Function<Map<Pointer, Offer>, Map<Pointer, Future<ByteBuffer>>> read) {
        if (offers.isEmpty() && pending.isEmpty()) {
            return;
        }
        Map<Pointer, Pending> now = new HashMap<>();
        Map<Pointer, Offer> missing = new LinkedHashMap<>();
        for (Offer offer : offers.values()) {
            for (Pointer pointer : offer.pointers()) {
                Pending known = pending.remove(pointer);
                if (known != null) {
                    now.put(pointer, known);
                } else {
                    missing.put(pointer, offer);
                }
            }
        }
        pending.values().forEach(old -> old.section().cancel(true));
        long since = System.nanoTime();
        read.apply(missing).forEach((pointer, section) -> now.put(pointer, new Pending(section, since)));
        pending = now;
    }

    /** The section's bytes; null where they are not there by the deadline, or never will be. */
    ByteBuffer await(Pointer pointer, long deadlineNanos, FollowerCounters counters) {
        Pending section = pending.get(pointer);
        if (section == null) {
            return null;
        }
        long began = System.nanoTime();
        boolean waits = !section.section().isDone();
        try {
            return section.section().get(Math.max(0, deadlineNanos - began), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            counters.waitsInVain.increment();
            if (began - section.sinceNanos() > PATIENCE.toNanos()) {
                rest(began);
            }
        } catch (ExecutionException e) {
            rest(began);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            if (waits) {
                waitedNanos += System.nanoTime() - began;
            }
        }
        return null;
    }

    /** How long the thread has waited since the fetch began. */
    long waitedNanos() {
        return waitedNanos;
    }

    /** Asks for no pointers for a while: the leader sends records meanwhile. */
    void rest(long nowNanos) {
        resting = true;
        restUntilNanos = nowNanos + REST.toNanos();
    }

    boolean restsAt(long nowNanos) {
        resting = resting && nowNanos - restUntilNanos < 0;
        return resting;
    }
}
