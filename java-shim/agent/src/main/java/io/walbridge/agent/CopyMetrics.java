// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** Counts what went to the WAL, and what never will, since the broker's start. Thread-safe. */
final class CopyMetrics {
    private final LongAdder copies = new LongAdder();
    private final LongAdder failures = new LongAdder();
    private final LongAdder sections = new LongAdder();
    private final LongAdder records = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder skippedRecords = new LongAdder();
    private final LongAdder skippedBytes = new LongAdder();
    private volatile boolean failing;

    void copied(List<StoredSection> stored) {
        copies.increment();
        for (StoredSection one : stored) {
            WalSection section = one.section();
            sections.increment();
            records.add(section.batches().records());
            bytes.add(section.sizeInBytes());
        }
        failing = false;
    }

    void failed() {
        failures.increment();
        failing = true;
    }

    /** Records that do not go to the WAL any more; bytes is 0 where the log has lost them, too. */
    void skipped(long records, long bytes) {
        skippedRecords.add(records);
        skippedBytes.add(bytes);
    }

    /** Some records of the section, or none, are not stored and not read again. */
    void skipped(long records, WalSection section) {
        if (records > 0) {
            skipped(records, section.sizeInBytes());
        }
    }

    /** Whether the last copy that ended has failed. */
    boolean failing() {
        return failing;
    }

    long copies() {
        return copies.sum();
    }

    long failures() {
        return failures.sum();
    }

    long sections() {
        return sections.sum();
    }

    long records() {
        return records.sum();
    }

    long bytes() {
        return bytes.sum();
    }

    long skippedRecords() {
        return skippedRecords.sum();
    }

    long skippedBytes() {
        return skippedBytes.sum();
    }
}
