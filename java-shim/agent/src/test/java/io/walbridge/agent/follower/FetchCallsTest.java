// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

import java.util.List;

class FetchCallsTest {
    private final FetchCalls calls = new FetchCalls();
    private final Offer outer = offer(1);
    private final Offer inner = offer(2);

    @Test
    void aResponseGetsTheOffersOfTheReadBeforeIt() {
        FetchCalls.Call call = calls.begin(true, true);
        call.offer(outer);
        calls.end(call, true);
        assertEquals(List.of(outer), calls.take());
        assertEquals(List.of(), calls.take());
    }

    @Test
    void aFetchThatIsCompletedWithinAReadTakesItsOwn() {
        FetchCalls.Call first = calls.begin(true, true);
        first.offer(outer);
        FetchCalls.Call second = calls.begin(true, true);
        assertEquals(2, second.depth);
        second.offer(inner);
        calls.end(second, true);
        assertEquals(List.of(inner), calls.take());
        calls.end(first, true);
        assertEquals(List.of(outer), calls.take());
    }

    @Test
    void aFetchWithinAReadThatOffersNothingTakesNothing() {
        FetchCalls.Call first = calls.begin(true, true);
        first.offer(outer);
        calls.end(calls.begin(false, false), true);
        assertEquals(List.of(), calls.take());
        calls.end(first, true);
        assertEquals(List.of(outer), calls.take());
    }

    @Test
    void whatAParkedFetchLeavesIsGoneWithTheNextRead() {
        FetchCalls.Call parked = calls.begin(true, true);
        parked.offer(outer);
        calls.end(parked, true);
        calls.end(calls.begin(false, false), true);
        assertEquals(List.of(), calls.take());
    }

    @Test
    void aReadThatFailsHasNoResponse() {
        FetchCalls.Call call = calls.begin(true, true);
        call.offer(outer);
        calls.end(call, false);
        assertEquals(List.of(), calls.take());
    }

    @Test
    void onlyTheReadingOfAPartitionItselfCountsAsOne() {
        Object partition = new Object();
        FetchCalls.Call first = calls.begin(true, true);
        calls.partitionRead(partition, 7);
        assertEquals(7, first.takeRead(partition));
        assertEquals(-1, first.takeRead(partition), "a parked fetch asks of the same partition");
        calls.partitionRead(partition, 8);
        assertEquals(-1, first.takeRead(new Object()));
    }

    @Test
    void aConsumersReadLeavesNothingForAParkedFollower() {
        Object partition = new Object();
        FetchCalls.Call consumer = calls.begin(false, false);
        calls.partitionRead(partition, 7);
        assertEquals(-1, consumer.takeRead(partition));
    }

    private static Offer offer(int partition) {
        return new Offer(Uuid.ZERO_UUID, partition, 0, 0, 0, List.of());
    }
}
