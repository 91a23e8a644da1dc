// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.Uuid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.stream.Stream;

/** Who this broker is, from its properties and from the meta.properties of its log directories. */
final class MetaProperties {
    private static final Logger LOG = LoggerFactory.getLogger(MetaProperties.class);

    private MetaProperties() {}

    static int brokerId(Map<String, ?> broker) {
        Object id = Objects.requireNonNullElse(broker.get("node.id"), broker.get("broker.id"));
        return Integer.parseInt(id.toString().trim());
    }

    /** The cluster's id, from the first log directory that can be read: others may be broken. */
    static String clusterId(Map<String, ?> broker) throws IOException {
        List<Path> directories = Stream.concat(logDirs(broker), metadataLogDir(broker)).toList();
        IOException failure = null;
        for (Path directory : directories) {
            try {
                String id = read(directory).getProperty("cluster.id");
                if (id != null) {
                    return id;
                }
            } catch (IOException e) {
                failure = e;
            }
        }
        throw new IOException("No meta.properties in " + directories + " has a cluster.id", failure);
    }

    /** The log directories by their ids, without those that cannot be read. */
    static Map<Uuid, Path> logDirectories(Map<String, ?> broker) {
        Map<Uuid, Path> directories = new LinkedHashMap<>();
        logDirs(broker).forEach(directory -> {
            try {
                String id = read(directory).getProperty("directory.id");
                if (id != null) {
                    directories.put(Uuid.fromString(id), directory);
                }
            } catch (IOException e) {
                LOG.warn("Nothing of the WAL is kept in {}: {}", directory, e.toString());
            }
        });
        return directories;
    }

    private static Properties read(Path directory) throws IOException {
        Properties properties = new Properties();
        try (var reader = Files.newBufferedReader(directory.resolve("meta.properties"))) {
            properties.load(reader);
        }
        return properties;
    }

    private static Stream<Path> logDirs(Map<String, ?> broker) {
        Object logDirs = Objects.requireNonNullElse(broker.get("log.dirs"),
                Objects.requireNonNullElse(broker.get("log.dir"), "/tmp/kafka-logs"));
        return Arrays.stream(logDirs.toString().split(",")).map(String::trim).map(Path::of);
    }

    private static Stream<Path> metadataLogDir(Map<String, ?> broker) {
        return Stream.ofNullable(broker.get("metadata.log.dir")).map(Object::toString).map(String::trim).map(Path::of);
    }
}
