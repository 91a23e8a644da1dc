// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

import java.util.NavigableMap;
import java.util.TreeMap;

class StoredEndTest {
    @Test
    void goesOnWhereItWasIfTheLogIsTheSame() {
        assertEquals(80, end(80, 3, 0).within(lineage(3, 0), 0, 100));
    }

    @Test
    void goesOnAcrossALaterEpoch() {
        assertEquals(80, end(80, 3, 0).within(lineage(3, 0, 5, 90), 0, 120));
    }

    @Test
    void goesBackToWhereAnotherLeaderTookOver() {
        assertEquals(60, end(80, 3, 0).within(lineage(3, 0, 5, 60), 0, 120));
    }

    @Test
    void goesBackToTheEndOfAShorterLog() {
        assertEquals(70, end(80, 3, 0).within(lineage(3, 0), 0, 70));
    }

    /** The log holds an epoch between two stored ones: what was stored from there on is another leader's. */
    @Test
    void goesBackToTheLastCommonEpoch() {
        assertEquals(90, end(150, 3, 0, 5, 100)
                .within(lineage(3, 0, 4, 90, 6, 120), 0, 200));
    }

    @Test
    void beginsAtTheLogStartWhereNothingIsCommon() {
        assertEquals(40, end(80, 3, 0).within(lineage(7, 40), 40, 100));
    }

    @Test
    void neverBeginsBelowTheLogStart() {
        assertEquals(95, end(80, 3, 0).within(lineage(3, 95), 95, 100));
    }

    private static StoredEnd end(long offset, int... epochsAndStarts) {
        TopicIdPartition id = new TopicIdPartition(Uuid.randomUuid(), 0, "t");
        return new StoredEnd(Sections.stored(id, lineage(epochsAndStarts), offset - 1, offset - 1), offset);
    }

    private static NavigableMap<Integer, Long> lineage(int... epochsAndStarts) {
        NavigableMap<Integer, Long> lineage = new TreeMap<>();
        for (int i = 0; i < epochsAndStarts.length; i += 2) {
            lineage.put(epochsAndStarts[i], (long) epochsAndStarts[i + 1]);
        }
        return lineage;
    }
}
