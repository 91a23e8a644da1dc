// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.util.Map;

/** The upload to the WAL, over JMX. Counters run from the broker's start. */
public interface RemoteWalManagerMXBean {
    /** Copies that were stored; each holds sections of one or many partitions. */
    long getCopies();

    /** Copies that failed and were tried again. */
    long getFailedCopies();

    /** Sections of partitions that were stored. */
    long getSections();

    /** Records that were stored, those of transactions' control batches among them. */
    long getRecords();

    /** Bytes of record batches that were stored. */
    long getBytes();

    /**
     * Offsets that retention or DeleteRecords took from a log before they were read for the WAL. They are below the log
     * start, so nobody misses them.
     */
    long getSkippedRecords();

    /** Bytes that are read from the logs and not yet stored. */
    long getBacklogBytes();

    /** Partitions that are led by this broker and go to the WAL. */
    int getPartitions();

    /** Records of the logs that are not yet known to be stored, of all these partitions. */
    long getLagRecords();

    /** The WAL end of each of these partitions, by name (topic-partition). */
    Map<String, Long> getWalEnds();

    /**
     * The WAL end of one partition: everything of the log below it is stored durably. -1 where the partition is not
     * one of these.
     */
    long walEnd(String topic, int partition);
}
