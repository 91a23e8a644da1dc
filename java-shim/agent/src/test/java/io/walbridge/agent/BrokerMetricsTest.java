// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.Metrics;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.stream.Collectors;

class BrokerMetricsTest {
    private static final String GROUP = "remote-wal-manager-metrics";

    private final UploadSwitch upload = new UploadSwitch(new FakeBroker(), CopyListener.NONE);

    @Test
    void allAreAddedAndRemoved() {
        try (Metrics registry = new Metrics()) {
            BrokerMetrics metrics = new BrokerMetrics(registry, upload);
            assertTrue(names(registry).containsAll(List.of("enabled", "bytes-total", "skipped-records-total")));
            registry.metrics().values().stream().filter(metric -> metric.metricName().group().equals(GROUP))
                    .forEach(metric -> assertEquals(0.0, metric.metricValue(), metric.metricName().name()));
            metrics.close();
            assertEquals(List.of(), names(registry));
        }
    }

    @Test
    void noneIsLeftWhereOneIsThereAlready() {
        try (Metrics registry = new Metrics()) {
            MetricName taken = registry.metricName("lag-records", GROUP);
            registry.addMetric(taken, (config, now) -> 1.0);
            assertThrows(IllegalArgumentException.class, () -> new BrokerMetrics(registry, upload));
            assertEquals(List.of("lag-records"), names(registry));
        }
    }

    private static List<String> names(Metrics registry) {
        return registry.metrics().keySet().stream().filter(name -> name.group().equals(GROUP)).map(MetricName::name)
                .collect(Collectors.toList());
    }
}
