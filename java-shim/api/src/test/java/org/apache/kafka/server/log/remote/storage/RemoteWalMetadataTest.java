/*
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
 * the License. You may obtain a copy of the License at
 *
 *    http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
 * an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
 * specific language governing permissions and limitations under the License.
 */
package org.apache.kafka.server.log.remote.storage;

import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.record.Records;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadata.RemoteLogSegmentMetadataEntry;
import org.junit.jupiter.api.Test;

import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

/** The three classes of metadata, and how a copy takes one to the other. */
class RemoteWalMetadataTest {

    private static final Uuid TOPIC = new Uuid(1, 2);
    private static final Uuid COMBINED = new Uuid(3, 4);
    private static final RemoteLogSegmentId FIRST = segmentId(0);
    private static final RemoteLogSegmentId SECOND = segmentId(1);
    private static final Optional<CustomMetadata> EXTENT = Optional.of(new CustomMetadata(new byte[] {1, 2}));
    private static final RemoteLogSegmentState STARTED = RemoteLogSegmentState.COPY_SEGMENT_STARTED;
    private static final RemoteLogSegmentState FINISHED = RemoteLogSegmentState.COPY_SEGMENT_FINISHED;

    @Test
    void copyTakesCombinedMetadataFromStartedToFinished() {
        var started = new RemoteWalCombinedLogSegmentMetadata(COMBINED,
                List.of(new RemoteLogSegmentMetadataEntry(FIRST, -1, -1),
                        new RemoteLogSegmentMetadataEntry(SECOND, -1, -1)), 1, 100);
        assertEquals(STARTED, started.state());
        assertEquals(Optional.empty(), started.customMetadata());
        assertEquals(FIRST.topicIdPartition(), started.topicIdPartition());

        var places = List.of(new RemoteLogSegmentMetadataEntry(FIRST, 0, 9),
                new RemoteLogSegmentMetadataEntry(SECOND, 10, 29));
        var update = new RemoteWalCombinedLogSegmentMetadataUpdate(COMBINED, places, EXTENT, FINISHED, 1, 200);
        assertEquals(new RemoteWalCombinedLogSegmentMetadata(COMBINED, places, EXTENT, FINISHED, 1, 200),
                started.createWithUpdates(update));

        var other = new RemoteWalCombinedLogSegmentMetadataUpdate(TOPIC, places, EXTENT, FINISHED, 1, 200);
        assertThrows(IllegalArgumentException.class, () -> started.createWithUpdates(other));
    }

    @Test
    void copyTakesASectionFromStartedToFinished() {
        var started = section();
        assertEquals(STARTED, started.state());
        assertEquals(Optional.empty(), started.combinedSegmentId());
        assertEquals(-1, started.startFilePosition());

        var combined = started.createWithUpdate(COMBINED);
        assertEquals(Optional.of(COMBINED), combined.combinedSegmentId());
        assertEquals(STARTED, combined.state());

        var finished = combined.createWithUpdate(new RemoteWalLogSegmentMetadataUpdate(FIRST, 200, EXTENT, FINISHED, 1,
                COMBINED, FIRST.topicIdPartition(), 5, 24));
        assertEquals(new RemoteWalLogSegmentMetadata(FIRST, 10, 19, 1_000, 1, 7, 200, 3, Map.of(0, 0L, 3, 10L), 2,
                new Uuid(5, 6), 1 << 30, EXTENT, FINISHED, Optional.of(COMBINED), 5, 24), finished);

        var other = new RemoteWalLogSegmentMetadataUpdate(SECOND, 200, EXTENT, FINISHED, 1, COMBINED,
                FIRST.topicIdPartition(), 5, 24);
        assertThrows(IllegalArgumentException.class, () -> combined.createWithUpdate(other));
    }

    /** Each differs from the first in one field: none may be equal to another, nor print alike. */
    @Test
    void everyFieldTakesPartInEquals() {
        var none = Optional.<CustomMetadata>empty();
        var entries = List.of(new RemoteLogSegmentMetadataEntry(FIRST, 0, 1));
        var otherEntries = List.of(new RemoteLogSegmentMetadataEntry(FIRST, 0, 2));
        assertAllDiffer(List.of(
                new RemoteLogSegmentMetadataEntry(FIRST, 0, 1),
                new RemoteLogSegmentMetadataEntry(SECOND, 0, 1),
                new RemoteLogSegmentMetadataEntry(FIRST, 1, 1),
                new RemoteLogSegmentMetadataEntry(FIRST, 0, 2)));
        assertAllDiffer(List.of(
                new RemoteWalCombinedLogSegmentMetadata(COMBINED, entries, none, STARTED, 1, 100),
                new RemoteWalCombinedLogSegmentMetadata(TOPIC, entries, none, STARTED, 1, 100),
                new RemoteWalCombinedLogSegmentMetadata(COMBINED, otherEntries, none, STARTED, 1, 100),
                new RemoteWalCombinedLogSegmentMetadata(COMBINED, entries, EXTENT, STARTED, 1, 100),
                new RemoteWalCombinedLogSegmentMetadata(COMBINED, entries, none, FINISHED, 1, 100),
                new RemoteWalCombinedLogSegmentMetadata(COMBINED, entries, none, STARTED, 2, 100),
                new RemoteWalCombinedLogSegmentMetadata(COMBINED, entries, none, STARTED, 1, 101)));
        assertAllDiffer(List.of(
                new RemoteWalCombinedLogSegmentMetadataUpdate(COMBINED, entries, none, STARTED, 1, 100),
                new RemoteWalCombinedLogSegmentMetadataUpdate(TOPIC, entries, none, STARTED, 1, 100),
                new RemoteWalCombinedLogSegmentMetadataUpdate(COMBINED, otherEntries, none, STARTED, 1, 100),
                new RemoteWalCombinedLogSegmentMetadataUpdate(COMBINED, entries, EXTENT, STARTED, 1, 100),
                new RemoteWalCombinedLogSegmentMetadataUpdate(COMBINED, entries, none, FINISHED, 1, 100),
                new RemoteWalCombinedLogSegmentMetadataUpdate(COMBINED, entries, none, STARTED, 2, 100),
                new RemoteWalCombinedLogSegmentMetadataUpdate(COMBINED, entries, none, STARTED, 1, 101)));
        TopicIdPartition p = FIRST.topicIdPartition();
        TopicIdPartition q = SECOND.topicIdPartition();
        assertAllDiffer(List.of(
                new RemoteWalLogSegmentMetadataUpdate(FIRST, 1, none, STARTED, 1, COMBINED, p, 0, 1),
                new RemoteWalLogSegmentMetadataUpdate(SECOND, 1, none, STARTED, 1, COMBINED, p, 0, 1),
                new RemoteWalLogSegmentMetadataUpdate(FIRST, 2, none, STARTED, 1, COMBINED, p, 0, 1),
                new RemoteWalLogSegmentMetadataUpdate(FIRST, 1, EXTENT, STARTED, 1, COMBINED, p, 0, 1),
                new RemoteWalLogSegmentMetadataUpdate(FIRST, 1, none, FINISHED, 1, COMBINED, p, 0, 1),
                new RemoteWalLogSegmentMetadataUpdate(FIRST, 1, none, STARTED, 2, COMBINED, p, 0, 1),
                new RemoteWalLogSegmentMetadataUpdate(FIRST, 1, none, STARTED, 1, TOPIC, p, 0, 1),
                new RemoteWalLogSegmentMetadataUpdate(FIRST, 1, none, STARTED, 1, COMBINED, q, 0, 1),
                new RemoteWalLogSegmentMetadataUpdate(FIRST, 1, none, STARTED, 1, COMBINED, p, 1, 1),
                new RemoteWalLogSegmentMetadataUpdate(FIRST, 1, none, STARTED, 1, COMBINED, p, 0, 2)));
        Uuid dir = new Uuid(5, 6);
        var epochs = Map.of(0, 0L);
        assertAllDiffer(List.of(
                new RemoteWalLogSegmentMetadata(FIRST, 5, 9, 1, 1, 1, 1, 1, epochs, 1, dir, 1),
                new RemoteWalLogSegmentMetadata(SECOND, 5, 9, 1, 1, 1, 1, 1, epochs, 1, dir, 1),
                new RemoteWalLogSegmentMetadata(FIRST, 6, 9, 1, 1, 1, 1, 1, epochs, 1, dir, 1),
                new RemoteWalLogSegmentMetadata(FIRST, 5, 8, 1, 1, 1, 1, 1, epochs, 1, dir, 1),
                new RemoteWalLogSegmentMetadata(FIRST, 5, 9, 2, 1, 1, 1, 1, epochs, 1, dir, 1),
                new RemoteWalLogSegmentMetadata(FIRST, 5, 9, 1, 2, 1, 1, 1, epochs, 1, dir, 1),
                new RemoteWalLogSegmentMetadata(FIRST, 5, 9, 1, 1, 2, 1, 1, epochs, 1, dir, 1),
                new RemoteWalLogSegmentMetadata(FIRST, 5, 9, 1, 1, 1, 2, 1, epochs, 1, dir, 1),
                new RemoteWalLogSegmentMetadata(FIRST, 5, 9, 1, 1, 1, 1, 2, epochs, 1, dir, 1),
                new RemoteWalLogSegmentMetadata(FIRST, 5, 9, 1, 1, 1, 1, 1, Map.of(1, 0L), 1, dir, 1),
                new RemoteWalLogSegmentMetadata(FIRST, 5, 9, 1, 1, 1, 1, 1, epochs, 2, dir, 1),
                new RemoteWalLogSegmentMetadata(FIRST, 5, 9, 1, 1, 1, 1, 1, epochs, 1, TOPIC, 1),
                new RemoteWalLogSegmentMetadata(FIRST, 5, 9, 1, 1, 1, 1, 1, epochs, 1, dir, 2),
                full(EXTENT, STARTED, Optional.empty(), -1, -1),
                full(none, FINISHED, Optional.empty(), -1, -1),
                full(none, STARTED, Optional.of(COMBINED), -1, -1),
                full(none, STARTED, Optional.empty(), 1, -1),
                full(none, STARTED, Optional.empty(), -1, 1)));
    }

    @Test
    void whatIsGivenIsCopied() {
        Map<Integer, Long> epochs = new HashMap<>(Map.of(0, 0L));
        var section = new RemoteWalLogSegmentMetadata(FIRST, 5, 9, 1, 1, 1, 1, 1, epochs, 1, TOPIC, 1);
        epochs.put(1, 7L);
        assertEquals(Map.of(0, 0L), section.segmentLeaderEpochs());
        assertThrows(UnsupportedOperationException.class, () -> section.segmentLeaderEpochs().clear());

        var entries = new ArrayList<>(List.of(new RemoteLogSegmentMetadataEntry(FIRST, 0, 1)));
        var combined = new RemoteWalCombinedLogSegmentMetadata(COMBINED, entries, 1, 1);
        entries.clear();
        assertEquals(1, combined.remoteLogSegmentMetadataEntries().size());
    }

    @Test
    void nonsenseIsRefused() {
        var epochs = Map.of(0, 0L);
        assertThrows(IllegalArgumentException.class,
                () -> new RemoteWalLogSegmentMetadata(FIRST, -1, 9, 1, 1, 1, 1, 1, epochs, 1, TOPIC, 1));
        assertThrows(IllegalArgumentException.class,
                () -> new RemoteWalLogSegmentMetadata(FIRST, 5, 4, 1, 1, 1, 1, 1, epochs, 1, TOPIC, 1));
        assertThrows(IllegalArgumentException.class,
                () -> new RemoteWalLogSegmentMetadata(FIRST, 5, 9, 1, 1, 1, 1, 1, Map.of(), 1, TOPIC, 1));
        assertThrows(NullPointerException.class,
                () -> new RemoteWalLogSegmentMetadata(FIRST, 5, 9, 1, 1, 1, 1, 1, epochs, 1, null, 1));
        assertThrows(IllegalArgumentException.class,
                () -> new RemoteWalCombinedLogSegmentMetadata(COMBINED, List.of(), 1, 1));
    }

    @Test
    void overloadFallsBackToThePrintedMethod() throws RemoteStorageException {
        var combined = new RemoteWalCombinedLogSegmentMetadata(COMBINED,
                List.of(new RemoteLogSegmentMetadataEntry(FIRST, -1, -1)), 1, 100);
        var update = new RemoteWalCombinedLogSegmentMetadataUpdate(COMBINED,
                combined.remoteLogSegmentMetadataEntries(), EXTENT, FINISHED, 1, 200);
        RemoteWalStorageManager printed = new RemoteWalStorageManager() {
            @Override
            public RemoteWalCombinedLogSegmentMetadataUpdate copyLogSegmentData(
                    RemoteWalCombinedLogSegmentMetadata metadata, List<Records> recordsList) {
                assertSame(combined, metadata);
                return update;
            }

            @Override
            public InputStream fetchLogSegment(RemoteWalLogSegmentMetadata metadata, int start, int end) {
                return InputStream.nullInputStream();
            }

            @Override
            public void configure(Map<String, ?> configs) {
            }

            @Override
            public void close() {
            }
        };
        assertSame(update, printed.copyLogSegmentData(combined, List.of(), List.of(section())));
    }

    private static void assertAllDiffer(List<?> values) {
        assertEquals(values.size(), new HashSet<>(values).size(), () -> "equal: " + values);
        Set<String> printed = new HashSet<>();
        values.forEach(value -> printed.add(value.toString()));
        assertEquals(values.size(), printed.size(), () -> "printed alike: " + values);
    }

    private static RemoteWalLogSegmentMetadata section() {
        return new RemoteWalLogSegmentMetadata(FIRST, 10, 19, 1_000, 1, 7, 100, 3, Map.of(0, 0L, 3, 10L), 2,
                new Uuid(5, 6), 1 << 30);
    }

    private static RemoteWalLogSegmentMetadata full(Optional<CustomMetadata> custom, RemoteLogSegmentState state,
                                                    Optional<Uuid> combined, long start, long end) {
        return new RemoteWalLogSegmentMetadata(FIRST, 5, 9, 1, 1, 1, 1, 1, Map.of(0, 0L), 1, new Uuid(5, 6), 1, custom,
                state, combined, start, end);
    }

    private static RemoteLogSegmentId segmentId(int partition) {
        return new RemoteLogSegmentId(new TopicIdPartition(TOPIC, new TopicPartition("t", partition)),
                new Uuid(9, partition));
    }
}
