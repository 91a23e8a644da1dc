// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The jars of a stock Kafka, as the integration tests keep them; see integration/kafka. */
public record StockKafka(String version, Path libs) {
    private static final Path CACHE = Path.of("..", "..", ".cache", "kafka");

    /** What is in the cache, the newest version first. */
    public static List<StockKafka> cached() {
        if (!Files.isDirectory(CACHE)) {
            return List.of();
        }
        try (Stream<Path> versions = Files.list(CACHE)) {
            return versions.filter(version -> Files.isDirectory(version.resolve("libs")))
                    .map(version -> new StockKafka(version.getFileName().toString(), version.resolve("libs")))
                    .sorted((a, b) -> b.version().compareTo(a.version())).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A loader that shares the classes of kafka-clients that the agent compiles against, and only them. */
    public URLClassLoader loader() {
        return new URLClassLoader(urls(), new Shared());
    }

    private URL[] urls() {
        try (Stream<Path> jars = Files.list(libs)) {
            return jars.filter(jar -> jar.toString().endsWith(".jar")).map(StockKafka::url).toArray(URL[]::new);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static URL url(Path jar) {
        try {
            return jar.toUri().toURL();
        } catch (MalformedURLException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static final class Shared extends ClassLoader {
        private static final List<String> NAMES =
                List.of("org.apache.kafka.common.TopicPartition", "org.apache.kafka.common.config.AbstractConfig",
                        "org.apache.kafka.common.Reconfigurable", "org.apache.kafka.common.metrics.Metrics");

        private Shared() {
            super(ClassLoader.getPlatformClassLoader());
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            if (NAMES.contains(name)) {
                return Class.forName(name, false, StockKafka.class.getClassLoader());
            }
            throw new ClassNotFoundException(name);
        }
    }
}
