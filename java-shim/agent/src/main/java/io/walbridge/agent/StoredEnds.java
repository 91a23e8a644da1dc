// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How far partitions were stored that are not uploaded now, in case they come back: one for each name, so that a topic
 * that is created anew takes the place of the old one. Thread-safe.
 */
final class StoredEnds {
    /** How many are kept, the latest. */
    static final int MAX = 100_000;

    private final Map<TopicPartition, StoredEnd> ends = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<TopicPartition, StoredEnd> eldest) {
            return size() > MAX;
        }
    };

    synchronized void put(StoredEnd end) {
        ends.remove(end.id().topicPartition());
        ends.put(end.id().topicPartition(), end);
    }

    /** Null where there is none for just this topic id. */
    synchronized StoredEnd get(TopicIdPartition id) {
        StoredEnd end = ends.get(id.topicPartition());
        return end != null && end.id().equals(id) ? end : null;
    }

    synchronized void remove(TopicIdPartition id) {
        if (get(id) != null) {
            ends.remove(id.topicPartition());
        }
    }

    /** Oldest first. */
    synchronized List<StoredEnd> all() {
        return List.copyOf(ends.values());
    }
}
