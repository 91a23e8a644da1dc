// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

/**
 * Whole record batches of one partition on their way to the WAL.
 *
 * @param from the first offset that the section covers. It is less than the first batch's base offset where the log
 *     has a gap, and greater where the log start lies within that batch.
 * @param reserved the bytes that it counts for among those buffered
 * @param since when the oldest of what was read with it was appended, about, in milliseconds since 1970
 */
record WalSection(WalPartition partition, long from, RecordBatches.Run batches, long reserved, long since) {
    /** The offset after the last one covered. */
    long to() {
        return batches.lastOffset() + 1;
    }

    int sizeInBytes() {
        return batches.bytes().remaining();
    }
}
