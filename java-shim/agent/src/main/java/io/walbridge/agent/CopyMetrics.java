// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** Counts what went to the WAL, and what never will, since the start. Thread-safe. */
final class CopyMetrics {
    private final LongAdder copies = new LongAdder();
    private final LongAdder failures = new LongAdder();
    private final LongAdder sections = new LongAdder();
    private final LongAdder records = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder skipped = new LongAdder();
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

    /** Records are gone from the log before they were in the WAL. */
    void skipped(long records) {
        skipped.add(records);
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
        return skipped.sum();
    }
}
