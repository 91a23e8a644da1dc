// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

/**
 * Whole record batches of one partition on their way to the WAL.
 *
 * @param from the first offset that the section covers. It is less than the first batch's base offset where the log
 *     has a gap, and greater where the log start lies within that batch.
 * @param inFile where the log's file has the batches, which then have no bytes; null where they were read
 * @param reserved the bytes that it counts for among those buffered
 * @param since when the oldest of what was read with it was appended, about, in milliseconds since 1970
 */
record WalSection(WalPartition partition, long from, RecordBatches.Run batches, LedPartition.Appended inFile,
                  long reserved, long since) {
    /** A section that nobody has read yet. */
    static WalSection of(WalPartition partition, long from, LedPartition.Appended inFile, long since) {
        RecordBatches.Run batches = new RecordBatches.Run(null, partition.led().leaderEpoch(), from, inFile.end() - 1,
                inFile.maxTimestamp(), inFile.end() - from);
        return new WalSection(partition, from, batches, inFile, 0, since);
    }

    /** The offset after the last one covered. */
    long to() {
        return batches.lastOffset() + 1;
    }

    int sizeInBytes() {
        return inFile == null ? batches.bytes().remaining() : inFile.sizeInBytes();
    }
}
