// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.Metrics;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The upload's figures among the broker's own metrics, in the group remote-wal-manager-metrics: every MetricsReporter
 * of the broker sees them there.
 */
final class BrokerMetrics implements AutoCloseable {
    private static final String GROUP = "remote-wal-manager-metrics";

    private final Metrics registry;
    private final List<MetricName> added = new ArrayList<>();

    /** Adds all of them, or none where it throws. */
    BrokerMetrics(Metrics registry, RemoteWalManagerMXBean upload) {
        this.registry = registry;
        try {
            add("enabled", "1 while the upload to the WAL is on", () -> upload.isEnabled() ? 1 : 0);
            add("copies-total", "Copies that were stored", upload::getCopies);
            add("failed-copies-total", "Copies that failed and were tried again", upload::getFailedCopies);
            add("sections-total", "Sections of partitions that were stored", upload::getSections);
            add("records-total", "Records that were stored", upload::getRecords);
            add("bytes-total", "Bytes of record batches that were stored", upload::getBytes);
            add("skipped-records-total", "Records that the WAL lacks", upload::getSkippedRecords);
            add("skipped-bytes-total", "Bytes that the WAL lacks", upload::getSkippedBytes);
            add("buffered-bytes", "Bytes that are read from the logs and not yet stored", upload::getBufferedBytes);
            add("lag-records", "Records of the logs that are not yet stored", upload::getLagRecords);
            add("partitions", "Partitions that go to the WAL", upload::getPartitions);
            add("refused-topics", "Topics that are selected and refused", () -> upload.getRefusedTopics().size());
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    @Override
    public void close() {
        added.forEach(registry::removeMetric);
    }

    private void add(String name, String description, LongSupplier value) {
        MetricName metric = registry.metricName(name, GROUP, description);
        registry.addMetric(metric, (config, now) -> value.getAsLong());
        added.add(metric);
    }
}
