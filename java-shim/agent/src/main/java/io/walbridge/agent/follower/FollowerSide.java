// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Takes the pointers out of fetch responses and puts the records that they stand for in, so that Kafka's own path
 * appends them. Runs on the threads that fetch from leaders, and keeps them for {@link #MAX_WAIT_NANOS} at most.
 */
final class FollowerSide {
    /** The rack that a fetch names when its agent takes pointers: the rack of a follower means nothing to Kafka. */
    static final String MARK = "walbridge/1";

    /** What replica.fetch.max.bytes is by default: the most that is put into one answer, unless one section is more. */
    private static final int PARTITION_BYTES = 1 << 20;
    private static final long MAX_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private static final Logger LOG = LoggerFactory.getLogger(FollowerSide.class);

    private final FollowerHooks hooks;
    private final Prefetcher prefetcher;
    private final FollowerCounters counters;
    private final ThreadLocal<FetcherSession> sessions = ThreadLocal.withInitial(FetcherSession::new);

    FollowerSide(FollowerHooks hooks, Prefetcher prefetcher, FollowerCounters counters) {
        this.hooks = hooks;
        this.prefetcher = prefetcher;
        this.counters = counters;
    }

    /** A fetch of records from a leader begins, with a FetchRequest.Builder. */
    void fetchBegins(Object builder) {
        FetcherSession session = sessions.get();
        session.begin();
        if (!prefetcher.connected() || session.restsAt(System.nanoTime())) {
            counters.unmarkedFetches.increment();
        } else {
            hooks.setRack(builder, MARK);
        }
    }

    /** A FetchSessionHandler has accepted a FetchResponse. Consumers in this JVM have such handlers, too. */
    void responseTaken(Object handler, Object response) {
        FetcherSession session = sessions.get();
        byte[] field = session.fetching() ? hooks.attached(response) : null;
        if (field == null) {
            return;
        }
        try {
            session.offered(PointerField.decode(field), hooks.topicNames(handler));
        } catch (IOException e) {
            counters.rejectedOffers.increment();
            LOG.debug("Cannot read a leader's pointers", e);
            session.rest(System.nanoTime());
        }
    }

    /** The fetch ends; what it returns is appended next. */
    void fetchEnds(Object result) {
        FetcherSession session = sessions.get();
        session.end();
        session.prefetch(prefetcher::read);
        if (session.offers().isEmpty()) {
            return;
        }
        Map<TopicPartition, Object> answers = hooks.fetched(result);
        long began = System.nanoTime();
        session.offers().forEach((name, offer) -> inject(session, name, offer, answers, began + MAX_WAIT_NANOS));
        long waited = session.waitedNanos();
        if (waited > 0) {
            counters.waits.increment();
            counters.waitNanos.add(waited);
        }
    }

    private void inject(FetcherSession session, TopicPartition name, Offer offer, Map<TopicPartition, Object> answers,
                        long deadline) {
        FollowerHooks.Local local = hooks.local(name);
        Object answer = answers.get(name);
        if (local == null || local.leaderEpoch() != offer.leaderEpoch() || answer != null && !hooks.isEmpty(answer)) {
            counters.rejectedOffers.increment();
            return;
        }
        List<Batches> found = batches(session, offer, local, deadline);
        if (found.isEmpty()) {
            return;
        }
        if (answer == null) {
            answer = hooks.answer(offer);
        }
        hooks.records(answer, Batches.joined(found));
        answers.put(name, answer);
        for (Batches batches : found) {
            counters.injectedSections.increment();
            counters.injectedBytes.add(batches.bytes().remaining());
            counters.injectedRecords.add(batches.records());
        }
    }

    /** What is there by the deadline of the offer, from the local log end on. */
    private List<Batches> batches(FetcherSession session, Offer offer, FollowerHooks.Local local, long deadline) {
        List<Batches> found = new ArrayList<>(1);
        long next = local.logEndOffset();
        int bytes = 0;
        for (Pointer pointer : offer.pointers()) {
            if (pointer.lastOffset() < next) {
                continue;
            }
            ByteBuffer section = bytes < PARTITION_BYTES ? session.await(pointer, deadline, counters) : null;
            if (section == null) {
                break;
            }
            try {
                Batches batches = Batches.from(section, next, offer.leaderEpoch());
                bytes += batches.bytes().remaining();
                if (bytes > PARTITION_BYTES && !found.isEmpty()) {
                    break;
                }
                found.add(batches);
                next = batches.lastOffset() + 1;
            } catch (IllegalArgumentException e) {
                counters.rejectedSections.increment();
                LOG.debug("Not appended to {}: {}", offer, e.getMessage());
                session.rest(System.nanoTime());
                break;
            }
        }
        return found;
    }
}
