// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Which topics go to the WAL: those whose whole name one of the expressions matches, and that are not refused. */
final class TopicSelection {
    private final List<Pattern> topics;

    TopicSelection(List<Pattern> topics) {
        this.topics = List.copyOf(topics);
    }

    boolean matches(String topic) {
        return topics.stream().anyMatch(pattern -> pattern.matcher(topic).matches());
    }

    /** Why a topic that matches is refused all the same; empty where it is taken. */
    static Optional<String> refusal(String topic, boolean compacted) {
        if (topic.startsWith("__")) {
            return Optional.of("it is an internal topic");
        }
        if (compacted) {
            return Optional.of("it is compacted, and a compacted log cannot be restored from a bounded WAL");
        }
        return Optional.empty();
    }
}
