// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.util.List;
import java.util.Map;

/**
 * The upload to the WAL, over JMX. Counters run from the broker's start; what describes the present is 0 or empty while
 * the upload is off.
 */
public interface RemoteWalManagerMXBean {
    /** Whether the upload runs. */
    boolean isEnabled();

    /**
     * Switches the upload on, where it goes on from where it got to, or off, which drops what is under way; returns
     * when that is done. It holds until the broker's end, or until remote.log.wal.storage.system.enable is changed.
     *
     * @throws IllegalStateException where it does not start; the broker's log has the reason, too
     */
    void setEnabled(boolean enabled);

    /** The expressions that select topics. */
    List<String> getTopics();

    /** The topics that are selected and do not go to the WAL all the same, each with the reason. */
    Map<String, String> getRefusedTopics();

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
     * Records that never go to the WAL, counted by offsets: their partition skipped ahead, or they were deleted from
     * the log before they were read.
     */
    long getSkippedRecords();

    /** The bytes of those that partitions skipped. */
    long getSkippedBytes();

    /** Bytes that are read from the logs and not yet stored. */
    long getBufferedBytes();

    /** Partitions that are led by this broker and go to the WAL. */
    int getPartitions();

    /** Records of the logs that are not yet known to be stored, of all these partitions. */
    long getLagRecords();

    /**
     * From where on the WAL is known to hold each of these partitions without a gap, up to its WAL end, by name
     * (topic-partition): where the upload began in this leader epoch, or where it skipped to.
     */
    Map<String, Long> getWalStarts();

    /** The WAL end of each of these partitions, by name. */
    Map<String, Long> getWalEnds();

    /**
     * The WAL end of one partition: everything of the log from its WAL start up to it is stored durably. -1 where the
     * partition is not one of these.
     */
    long walEnd(String topic, int partition);
}
