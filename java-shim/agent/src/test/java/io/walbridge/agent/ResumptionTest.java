// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.walbridge.agent.FakeBroker.FakePartition;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

class ResumptionTest {
    private final FakeStorage storage = new FakeStorage();
    private final StoredEnds proven = new StoredEnds();
    private final FakeBroker broker = new FakeBroker();
    private final FakePartition partition = broker.create("t", 0);

    @BeforeEach
    void lead() {
        partition.lead(1);
    }

    @Test
    void holdsNothingUpWithoutAClaim() {
        assertFalse(resumption(Duration.ofDays(1)).unsettled(partition.led()));
    }

    @Test
    void waitsWhileTheStorageDoesNotAnswer() {
        storage.down = true;
        Resumption resumption = resumption(Duration.ofDays(1));
        StoredEnd claim = claim(partition.id(), 1, 10);
        resumption.claim(claim);
        for (int i = 0; i < 5; i++) {
            assertTrue(resumption.unsettled(partition.led()));
        }
        assertEquals(List.of(claim), resumption.claims());
        assertEquals(0, resumption.settled());
    }

    @Test
    void doesNotWaitForEver() {
        storage.down = true;
        Resumption resumption = resumption(Duration.ZERO);
        resumption.claim(claim(partition.id(), 1, 10));
        assertTrue(resumption.unsettled(partition.led()));
        resumption.unsettled(partition.led());
        assertFalse(resumption.unsettled(partition.led()));
        assertEquals(1, resumption.settled());
        assertNull(proven.get(partition.id()));
    }

    @Test
    void forgetsWhatIsNotThere() {
        Resumption resumption = resumption(Duration.ofDays(1));
        resumption.claim(claim(partition.id(), 1, 10));
        resumption.unsettled(partition.led());
        assertFalse(resumption.unsettled(partition.led()));
        assertNull(proven.get(partition.id()));
    }

    @Test
    void decidesNothingForAPartitionThatIsLedNoMore() {
        Resumption resumption = resumption(Duration.ofDays(1));
        resumption.claim(claim(partition.id(), 1, 10));
        LedPartition led = partition.led();
        partition.follow(2);
        resumption.unsettled(led);
        assertEquals(0, resumption.settled());
    }

    /** Log directories may have checkpoints of different ages. */
    @Test
    void keepsTheLatestClaim() {
        Resumption resumption = resumption(Duration.ofDays(1));
        StoredEnd latest = claim(partition.id(), 3, 20);
        for (StoredEnd claim : List.of(claim(partition.id(), 2, 30), latest, claim(partition.id(), 3, 10))) {
            resumption.claim(claim);
        }
        assertEquals(List.of(latest), resumption.claims());
    }

    @Test
    void ignoresAClaimForAnotherTopicOfTheName() {
        Resumption resumption = resumption(Duration.ofDays(1));
        resumption.claim(claim(new TopicIdPartition(Uuid.randomUuid(), 0, "t"), 1, 10));
        assertFalse(resumption.unsettled(partition.led()));
    }

    /** An upload that was switched off and on again knows what it has stored, and waits for nothing. */
    @Test
    void asksForNoProofOfWhatThisProcessHasStored() {
        storage.down = true;
        StoredEnd end = claim(partition.id(), 1, 10);
        Resumption resumption = resumption(Duration.ofDays(1));
        resumption.claim(end);
        LedPartitions partitions = new LedPartitions(broker, new TopicSelection(List.of(Pattern.compile("t"))),
                new Growth(), proven, resumption);
        partitions.refresh();
        assertEquals(List.of(), partitions.current());
        proven.put(end);
        partitions.refresh();
        assertEquals(1, partitions.current().size());
    }

    private Resumption resumption(Duration patience) {
        return new Resumption(storage, proven, Runnable::run, new LogThrottle(Duration.ofDays(1)), patience,
                () -> { });
    }

    private static StoredEnd claim(TopicIdPartition id, int leaderEpoch, long offset) {
        return new StoredEnd(Sections.stored(id, new TreeMap<>(Map.of(leaderEpoch, 0L)), 0, offset - 1), offset);
    }
}
