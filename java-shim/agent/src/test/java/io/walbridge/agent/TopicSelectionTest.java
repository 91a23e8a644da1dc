// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

class TopicSelectionTest {
    private final TopicSelection selection =
            new TopicSelection(List.of(Pattern.compile("orders"), Pattern.compile("log-.*")));

    @Test
    void matchesWholeNames() {
        assertTrue(selection.matches("orders"));
        assertTrue(selection.matches("log-web"));
        assertFalse(selection.matches("orders2"));
        assertFalse(selection.matches("my-log-web"));
    }

    @Test
    void selectsNothingByDefault() {
        assertFalse(new TopicSelection(List.of()).matches("orders"));
    }

    @Test
    void refusesInternalAndCompactedTopics() {
        assertEquals(Optional.empty(), TopicSelection.refusal("orders", false));
        assertTrue(TopicSelection.refusal("__consumer_offsets", true).orElseThrow().contains("internal"));
        assertTrue(TopicSelection.refusal("__transaction_state", false).orElseThrow().contains("internal"));
        assertTrue(TopicSelection.refusal("orders", true).orElseThrow().contains("compacted"));
    }
}
