// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

/** Feeding followers through the WAL, over JMX: what this broker did as a leader and as a follower. */
public interface FollowerProofMXBean {
    /** Leader: reads of a partition whose records were kept back, since pointers went instead. */
    long getSuppressedReads();

    /** Leader: reads of a partition whose records were kept back until the WAL has them. */
    long getWaitingReads();

    /** Leader: reads of a partition for a marked follower that got its records all the same. */
    long getRecordReads();

    /** Leader: responses with pointers. */
    long getResponsesWithPointers();

    /** Leader: pointers in them. */
    long getPointersSent();

    /** Leader: bytes of the tagged fields that carry them. */
    long getPointerFieldBytes();

    /** Leader: bytes of records that the pointers stand for. */
    long getPointedBytes();

    /** Leader: times that a parked fetch was asked whether it has enough, for a marked follower. */
    long getParkedChecks();

    /** Leader: fetches that were parked with pointers collected, which are collected anew when they are answered. */
    long getParkedWithPointers();

    /** Leader: reads for a fetch that began within another one's. */
    long getNestedReads();

    /** Leader: the most that were within each other. */
    long getDeepestNesting();

    /** Follower: records that came through the WAL, as far as record batches tell. */
    long getInjectedRecords();

    /** Follower: their bytes. */
    long getInjectedBytes();

    /** Follower: sections that they came in. */
    long getInjectedSections();

    /** Follower: extents that were fetched from the daemon. */
    long getFetchedExtents();

    /** Follower: how long those fetches took in all, in microseconds. */
    long getFetchMicros();

    /** Follower: extents that could not be fetched. */
    long getFailedFetches();

    /** Follower: fetches of its thread that waited for the daemon. */
    long getWaits();

    /** Follower: the time that they waited, in microseconds. */
    long getWaitMicros();

    /** Follower: fetches that waited in vain. */
    long getWaitsInVain();

    /** Follower: offers that were not for the local replica as it is: its log end, leader epoch, or state. */
    long getRejectedOffers();

    /** Follower: sections whose bytes are not the record batches that they should be. */
    long getRejectedSections();

    /** Follower: fetches sent without a mark, since the WAL had failed or not answered yet. */
    long getUnmarkedFetches();
}
