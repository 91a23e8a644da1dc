// SPDX-License-Identifier: Apache-2.0
package io.walbridge.verify;

import org.apache.kafka.common.record.internal.RecordBatch;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What was verified, counted. Not safe for concurrent use: each partition has its own, added up at the end. */
final class Figures {
    private int partitions;
    private long records;
    private long controlRecords;
    private long objects;
    private long entries;
    private long bytes;
    private long logBytes;
    private long truncatedBatches;
    private final Map<String, Long> batches = new TreeMap<>();

    void partition() {
        partitions++;
    }

    void objects(long n) {
        objects += n;
    }

    void entry(int length) {
        entries++;
        bytes += length;
    }

    /** Counts the bytes of a batch of the log, once, however often it is stored. */
    void log(int length) {
        logBytes += length;
    }

    /** Counts a batch that Kafka truncated from the log, or whose epoch lies below its start. */
    void truncated() {
        truncatedBatches++;
    }

    /** Counts a batch of data by its codec and by how it was produced. */
    void data(RecordBatch batch, long n) {
        records += n;
        kind(batch.compressionType().name);
        kind(batch.isTransactional() ? "transactional" : batch.hasProducerId() ? "idempotent" : "plain");
    }

    /** Counts a batch that Kafka wrote itself, such as a commit. */
    void control(String kind, long n) {
        controlRecords += n;
        kind(kind);
    }

    private void kind(String kind) {
        batches.merge(kind, 1L, Long::sum);
    }

    void add(Figures other) {
        partitions += other.partitions;
        records += other.records;
        controlRecords += other.controlRecords;
        objects += other.objects;
        entries += other.entries;
        bytes += other.bytes;
        logBytes += other.logBytes;
        truncatedBatches += other.truncatedBatches;
        other.batches.forEach((kind, n) -> batches.merge(kind, n, Long::sum));
    }

    long records() {
        return records;
    }

    long controlRecords() {
        return controlRecords;
    }

    long entries() {
        return entries;
    }

    long truncatedBatches() {
        return truncatedBatches;
    }

    Map<String, Long> batches() {
        return batches;
    }

    /** One line of JSON. */
    String json() {
        String kinds = batches.entrySet().stream()
                .map(e -> "\"" + e.getKey() + "\":" + e.getValue())
                .collect(Collectors.joining(","));
        return String.format("{\"partitions\":%d,\"records\":%d,\"control_records\":%d,\"objects\":%d,"
                + "\"entries\":%d,\"bytes\":%d,\"log_bytes\":%d,\"truncated_batches\":%d,\"batches\":{%s}}",
                partitions, records, controlRecords, objects, entries, bytes, logBytes, truncatedBatches, kinds);
    }
}
