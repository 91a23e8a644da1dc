// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.TopicIdPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The uploads of what this broker leads and selects: one {@link WalPartition} for each partition, leader epoch and log.
 * Thread-safe.
 */
final class LedPartitions {
    private static final Logger LOG = LoggerFactory.getLogger(LedPartitions.class);

    private final Broker broker;
    private final Growth growth;
    private final StoredEnds remembered;
    private final Resumption resumption;
    private TopicSelection selection;
    private long seen = -1;
    private long settled;
    private boolean ended;
    private Map<TopicIdPartition, WalPartition> uploads = Map.of();
    private volatile List<WalPartition> current = List.of();
    private volatile Map<String, String> refused = Map.of();
    /** The refusals that are in the broker's log. */
    private final Map<String, String> told = new HashMap<>();

    /** @param remembered gets how far a partition is stored that is uploaded no more, in case it comes back */
    LedPartitions(Broker broker, TopicSelection selection, Growth growth, StoredEnds remembered,
                  Resumption resumption) {
        this.broker = broker;
        this.selection = selection;
        this.growth = growth;
        this.remembered = remembered;
        this.resumption = resumption;
    }

    /** The uploads as of the last refresh, in no particular order. */
    List<WalPartition> current() {
        return current;
    }

    /** The topics that are selected and do not go to the WAL all the same, with the reasons. */
    Map<String, String> refused() {
        return refused;
    }

    /** Selects other topics, from the next refresh on. */
    synchronized void select(TopicSelection other) {
        selection = other;
        seen = -1;
    }

    /** Ends all uploads for good. */
    synchronized void end() {
        ended = true;
        replace(Map.of());
    }

    /** Asks the broker what it leads now, if that may have changed since the last time. */
    synchronized void refreshIfChanged() {
        if (broker.leadershipVersion() != seen || resumption.settled() != settled) {
            refresh();
        }
    }

    /** Asks the broker what it leads now. */
    synchronized void refresh() {
        if (ended || broker.epoch() < 0) {
            return; // Until it has registered anew it believes its old metadata and cannot say who it is.
        }
        long version = broker.leadershipVersion();
        settled = resumption.settled();
        Map<TopicIdPartition, WalPartition> now = new HashMap<>();
        Map<String, String> refusals = new HashMap<>();
        for (LedPartition led : broker.led()) {
            if (selected(led, refusals)) {
                WalPartition known = uploads.get(led.id());
                WalPartition upload = known != null && known.led().equals(led) ? known : begin(led, known);
                if (upload != null) {
                    now.put(led.id(), upload);
                }
            }
        }
        replace(now);
        refused = Map.copyOf(refusals);
        // An append that nobody told of, whatever the reason, is found here at the latest.
        current.stream().filter(WalPartition::hasUnread).forEach(WalPartition::grew);
        seen = version;
    }

    private void replace(Map<TopicIdPartition, WalPartition> now) {
        uploads.forEach((id, upload) -> {
            if (now.get(id) != upload) {
                upload.end();
            }
            StoredEnd stored = upload.storedEnd();
            if (!now.containsKey(id) && stored != null) {
                remembered.put(stored);
            }
        });
        uploads = now;
        current = List.copyOf(now.values());
    }

    /**
     * Goes on where an earlier upload of the partition got to, as far as the log still holds that. Null where it is to
     * be tried again.
     */
    private WalPartition begin(LedPartition led, WalPartition before) {
        StoredEnd stored = before != null ? before.storedEnd() : remembered.get(led.id());
        if (before == null && stored == null && resumption.unsettled(led)) {
            return null;
        }
        // A copy: combiners read it at once, and a TreeMap's headMap is not safe even for that (it counts on the side).
        NavigableMap<Integer, Long> lineage = new TreeMap<>(led.lineage().headMap(led.leaderEpoch(), true));
        long start = led.logStartOffset();
        if (stored != null) {
            start = stored.within(lineage, start, led.logEndOffset());
        }
        if (!led.stillLed()) {
            return null;
        }
        WalPartition upload = new WalPartition(led, lineage, growth, start, stored);
        upload.begin();
        return upload;
    }

    private boolean selected(LedPartition led, Map<String, String> refusals) {
        String topic = led.id().topic();
        if (!selection.matches(topic)) {
            return false;
        }
        Optional<String> refusal = TopicSelection.refusal(topic, led.compacted());
        if (refusal.isEmpty()) {
            told.remove(topic);
            return true;
        }
        refusals.put(topic, refusal.get());
        // Once, also where this broker leads none of the topic for a while.
        if (!refusal.get().equals(told.put(topic, refusal.get()))) {
            LOG.warn("Topic {} does not go to the WAL: {}", topic, refusal.get());
        }
        return false;
    }
}
