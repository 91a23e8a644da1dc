// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/** What the two sides count. Thread-safe. */
final class FollowerCounters implements FollowerProofMXBean {
    final LongAdder suppressedReads = new LongAdder();
    final LongAdder waitingReads = new LongAdder();
    final LongAdder recordReads = new LongAdder();
    final LongAdder responsesWithPointers = new LongAdder();
    final LongAdder pointersSent = new LongAdder();
    final LongAdder pointerFieldBytes = new LongAdder();
    final LongAdder pointedBytes = new LongAdder();
    final LongAdder parkedChecks = new LongAdder();
    final LongAdder parkedWithPointers = new LongAdder();
    final LongAdder nestedReads = new LongAdder();
    final LongAccumulator deepestNesting = new LongAccumulator(Math::max, 0);
    final LongAdder injectedRecords = new LongAdder();
    final LongAdder injectedBytes = new LongAdder();
    final LongAdder injectedSections = new LongAdder();
    final LongAdder fetchedExtents = new LongAdder();
    final LongAdder fetchNanos = new LongAdder();
    final LongAdder failedFetches = new LongAdder();
    final LongAdder waits = new LongAdder();
    final LongAdder waitNanos = new LongAdder();
    final LongAdder waitsInVain = new LongAdder();
    final LongAdder rejectedOffers = new LongAdder();
    final LongAdder rejectedSections = new LongAdder();
    final LongAdder unmarkedFetches = new LongAdder();

    @Override
    public long getSuppressedReads() {
        return suppressedReads.sum();
    }

    @Override
    public long getWaitingReads() {
        return waitingReads.sum();
    }

    @Override
    public long getRecordReads() {
        return recordReads.sum();
    }

    @Override
    public long getResponsesWithPointers() {
        return responsesWithPointers.sum();
    }

    @Override
    public long getPointersSent() {
        return pointersSent.sum();
    }

    @Override
    public long getPointerFieldBytes() {
        return pointerFieldBytes.sum();
    }

    @Override
    public long getPointedBytes() {
        return pointedBytes.sum();
    }

    @Override
    public long getParkedChecks() {
        return parkedChecks.sum();
    }

    @Override
    public long getParkedWithPointers() {
        return parkedWithPointers.sum();
    }

    @Override
    public long getNestedReads() {
        return nestedReads.sum();
    }

    @Override
    public long getDeepestNesting() {
        return deepestNesting.get();
    }

    @Override
    public long getInjectedRecords() {
        return injectedRecords.sum();
    }

    @Override
    public long getInjectedBytes() {
        return injectedBytes.sum();
    }

    @Override
    public long getInjectedSections() {
        return injectedSections.sum();
    }

    @Override
    public long getFetchedExtents() {
        return fetchedExtents.sum();
    }

    @Override
    public long getFetchMicros() {
        return fetchNanos.sum() / 1_000;
    }

    @Override
    public long getFailedFetches() {
        return failedFetches.sum();
    }

    @Override
    public long getWaits() {
        return waits.sum();
    }

    @Override
    public long getWaitMicros() {
        return waitNanos.sum() / 1_000;
    }

    @Override
    public long getWaitsInVain() {
        return waitsInVain.sum();
    }

    @Override
    public long getRejectedOffers() {
        return rejectedOffers.sum();
    }

    @Override
    public long getRejectedSections() {
        return rejectedSections.sum();
    }

    @Override
    public long getUnmarkedFetches() {
        return unmarkedFetches.sum();
    }
}
