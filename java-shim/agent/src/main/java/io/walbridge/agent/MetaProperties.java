// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.stream.Stream;

/** Who this broker is, from its properties and from the meta.properties of its log directories. */
final class MetaProperties {
    private MetaProperties() {}

    static int brokerId(Map<String, ?> broker) {
        Object id = Objects.requireNonNullElse(broker.get("node.id"), broker.get("broker.id"));
        return Integer.parseInt(id.toString().trim());
    }

    /** The cluster's id, from the first log directory that can be read: others may be broken. */
    static String clusterId(Map<String, ?> broker) throws IOException {
        List<Path> directories = logDirectories(broker);
        IOException failure = null;
        for (Path directory : directories) {
            Properties properties = new Properties();
            try (var reader = Files.newBufferedReader(directory.resolve("meta.properties"))) {
                properties.load(reader);
            } catch (IOException e) {
                failure = e;
            }
            if (properties.containsKey("cluster.id")) {
                return properties.getProperty("cluster.id");
            }
        }
        throw new IOException("No meta.properties in " + directories + " has a cluster.id", failure);
    }

    private static List<Path> logDirectories(Map<String, ?> broker) {
        Object logDirs = Objects.requireNonNullElse(broker.get("log.dirs"),
                Objects.requireNonNullElse(broker.get("log.dir"), "/tmp/kafka-logs"));
        Stream<Object> metadata = Stream.ofNullable(broker.get("metadata.log.dir"));
        return Stream.concat(Arrays.stream(logDirs.toString().split(",")), metadata)
                .map(directory -> Path.of(directory.toString().trim())).toList();
    }
}
