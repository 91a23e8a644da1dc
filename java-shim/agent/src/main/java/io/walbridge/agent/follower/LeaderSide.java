// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import io.walbridge.agent.CopyListener;
import io.walbridge.agent.LedPartition;
import io.walbridge.agent.StoredSection;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * Keeps records back from followers whose agent fetches them from the WAL, and sends pointers instead. All but
 * {@link #stored} runs on the broker's own threads, some of it under its locks: it reads memory, and no more.
 */
final class LeaderSide implements CopyListener {
    /** The most bytes of records that one response points to: of one partition, as replica.fetch.max.bytes; in all. */
    private static final long PARTITION_BYTES = 1 << 20;
    private static final long RESPONSE_BYTES = 8 << 20;

    private static final Logger LOG = LoggerFactory.getLogger(LeaderSide.class);

    private final FollowerHooks hooks;
    private final Predicate<String> topics;
    private final FollowerCounters counters;
    private final Map<TopicPartition, PartitionPointers> pointers = new ConcurrentHashMap<>();
    private final ThreadLocal<FetchCalls> calls = ThreadLocal.withInitial(FetchCalls::new);
    /** While copies fail nobody waits for one. */
    private volatile boolean copiesFail;

    LeaderSide(FollowerHooks hooks, Predicate<String> topics, FollowerCounters counters) {
        this.hooks = hooks;
        this.topics = topics;
        this.counters = counters;
    }

    @Override
    public void stored(List<StoredSection> sections) {
        copiesFail = false;
        Set<TopicPartition> grown = new LinkedHashSet<>();
        for (StoredSection section : sections) {
            LedPartition led = section.led();
            TopicPartition name = led.id().topicPartition();
            if (topics.test(name.topic()) && led.stillLed() && section.metadata().customMetadata().isPresent()) {
                known(led).add(Pointer.to(section.metadata()));
                grown.add(name);
            }
        }
        grown.forEach(this::completeParked); // After all are known: the first response takes what it can.
    }

    private PartitionPointers known(LedPartition led) {
        return pointers.compute(led.id().topicPartition(), (any, before) ->
                before != null && before.led().equals(led) ? before : new PartitionPointers(led));
    }

    private void completeParked(TopicPartition name) {
        try {
            hooks.completeParked(name);
        } catch (RuntimeException e) {
            LOG.debug("Cannot complete the fetches that are parked for {}", name, e); // They end by themselves.
        }
    }

    @Override
    public void failed() {
        copiesFail = true;
    }

    FetchCalls.Call readBegins(Object fetchParams) {
        boolean ofFollower = hooks.isFromFollower(fetchParams);
        boolean marked = ofFollower && FollowerSide.MARK.equals(hooks.rack(fetchParams));
        FetchCalls.Call call = calls.get().begin(ofFollower, marked);
        if (call.depth > 1) {
            counters.nestedReads.increment();
            counters.deepestNesting.accumulate(call.depth);
        }
        return call;
    }

    void readEnds(FetchCalls.Call call, boolean returned) {
        calls.get().end(call, returned);
    }

    /** @param asked a FetchRequest.PartitionData */
    void partitionRead(Object partition, Object asked) {
        calls.get().partitionRead(partition, hooks.fetchOffset(asked));
    }

    /** Whether records of the partition are kept from the follower: if Kafka does, for its quota, or if we do. */
    boolean keepsBack(Object partition, int followerId, boolean throttled) {
        FetchCalls.Call call = calls.get().top();
        long offset = call == null ? -1 : call.takeRead(partition);
        PartitionPointers known = pointers.get(hooks.topicPartition(partition));
        if (throttled || known == null) {
            return throttled;
        }
        FollowerProgress follower = known.follower(followerId);
        if (offset >= 0) {
            follower.fetched(offset, call.marked);
        }
        if (!follower.marked() || !known.led().stillLed()) {
            return false;
        }
        return offset >= 0 ? keepsBack(call, partition, known, follower, offset) : parkedStays(known, follower);
    }

    /** The thread reads for a response: it takes pointers if there are any. */
    private boolean keepsBack(FetchCalls.Call call, Object partition, PartitionPointers known,
                              FollowerProgress follower, long offset) {
        List<Pointer> found = known.from(offset, PARTITION_BYTES);
        if (!found.isEmpty() && follower.patient(System.nanoTime())) {
            if (call.bytes() < RESPONSE_BYTES) {
                Offer offer = hooks.offer(partition, known, found);
                if (offer != null) {
                    call.offer(offer);
                }
            }
            counters.suppressedReads.increment();
            return true;
        }
        if (waits(known, follower, offset)) {
            counters.waitingReads.increment();
            return true;
        }
        if (offset < known.led().logEndOffset()) {
            counters.recordReads.increment();
        }
        return false;
    }

    /** A parked fetch asks whether the partition has something for it: records or pointers. */
    private boolean parkedStays(PartitionPointers known, FollowerProgress follower) {
        counters.parkedChecks.increment();
        long offset = follower.offset();
        return !known.holds(offset) && waits(known, follower, offset);
    }

    private boolean waits(PartitionPointers known, FollowerProgress follower, long offset) {
        return !copiesFail && known.expects(offset) && offset < known.led().logEndOffset()
                && follower.patient(System.nanoTime());
    }

    /** A FetchResponse has been made. */
    void answered(Object response) {
        List<Offer> offers = calls.get().take();
        if (offers.isEmpty()) {
            return;
        }
        byte[] field = PointerField.encode(offers);
        if (hooks.attach(response, field)) {
            counters.responsesWithPointers.increment();
            counters.pointerFieldBytes.add(field.length);
            for (Offer offer : offers) {
                counters.pointersSent.add(offer.pointers().size());
                offer.pointers().forEach(pointer -> counters.pointedBytes.add(pointer.length()));
            }
        }
    }

    /** A fetch has been answered or parked; one that is parked reads anew when it is answered. */
    void fetchEnds() {
        if (!calls.get().take().isEmpty()) {
            counters.parkedWithPointers.increment();
        }
    }
}
