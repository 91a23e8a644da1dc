// SPDX-License-Identifier: Apache-2.0
package io.walbridge.verify;

import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * A metrics reporter as anybody might configure one in a broker: it keeps the metrics of the agent's group in the file
 * that {@code verify.metrics.file} names, a line of name and value for each, not older than a fifth of a second.
 */
public final class MetricsFile implements MetricsReporter {
    private static final String GROUP = "remote-wal-manager-metrics";
    private static final long PERIOD_MS = 100;

    private final Map<String, KafkaMetric> metrics = new ConcurrentSkipListMap<>();
    private final ScheduledExecutorService writer = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "metrics-file");
        thread.setDaemon(true);
        return thread;
    });
    private Path file;

    @Override
    public void configure(Map<String, ?> configs) {
        Object name = configs.get("verify.metrics.file");
        if (name != null) {
            file = Path.of(name.toString());
            writer.scheduleWithFixedDelay(this::write, PERIOD_MS, PERIOD_MS, TimeUnit.MILLISECONDS);
        }
    }

    @Override
    public void init(List<KafkaMetric> existing) {
        existing.forEach(this::metricChange);
    }

    @Override
    public void metricChange(KafkaMetric metric) {
        if (metric.metricName().group().equals(GROUP)) {
            metrics.put(metric.metricName().name(), metric);
        }
    }

    @Override
    public void metricRemoval(KafkaMetric metric) {
        metrics.remove(metric.metricName().name(), metric);
    }

    @Override
    public void close() {
        writer.shutdownNow();
    }

    private void write() {
        String lines = metrics.entrySet().stream().map(e -> e.getKey() + " " + e.getValue().metricValue() + "\n")
                .collect(Collectors.joining());
        if (lines.isEmpty()) {
            return; // A broker may have more than one reporter of a class.
        }
        try {
            Path next = Files.createTempFile(file.getParent(), "metrics", null);
            Files.writeString(next, lines);
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new IllegalStateException("cannot write " + file, e); // Ends the reporting: the test sees that.
        }
    }
}
