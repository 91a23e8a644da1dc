// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** Counts copies to the WAL, since the start. Thread-safe. */
final class CopyMetrics {
    private final LongAdder copies = new LongAdder();
    private final LongAdder failures = new LongAdder();
    private final LongAdder sections = new LongAdder();
    private final LongAdder records = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private volatile boolean failing;

    void copied(List<WalSection> stored) {
        copies.increment();
        for (WalSection section : stored) {
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
}
