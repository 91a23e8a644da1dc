// SPDX-License-Identifier: Apache-2.0
package io.walbridge.verify;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Checks every partition that the broker has or that is stored, a few at a time. */
final class Verifier {
    private static final int PARALLEL = 4;
    private static final Pattern PARTITION_DIR = Pattern.compile("(.+)-(\\d+)");

    private final Listing listing;
    private final EntryReader reader;

    Verifier(Listing listing, EntryReader reader) {
        this.listing = listing;
        this.reader = reader;
    }

    /** Checks every partition of the topics, whose logs start with a segment. */
    Figures topics(List<Path> logDirs, Set<String> topics) throws Exception {
        Map<TopicPartition, Path> logs = find(logDirs, partition -> topics.contains(partition.topic()));
        for (TopicPartition partition : listing.partitions()) {
            if (topics.contains(partition.topic()) && !logs.containsKey(partition)) {
                throw new MismatchException("%s is stored, but the broker has no log of it", partition);
            }
        }
        return run(logs, Map.of());
    }

    /** @param starts the partitions to check, by name, and their log start offsets */
    Figures partitions(List<Path> logDirs, Map<String, Long> starts) throws Exception {
        Map<TopicPartition, Path> logs = find(logDirs, partition -> starts.containsKey(partition.toString()));
        if (logs.size() != starts.size()) {
            throw new MismatchException("the broker has logs of %s only, not of %s", logs.keySet(), starts.keySet());
        }
        return run(logs, starts);
    }

    private Figures run(Map<TopicPartition, Path> logs, Map<String, Long> starts) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(PARALLEL);
        try {
            List<Callable<Figures>> checks = new ArrayList<>();
            logs.forEach((partition, dir) -> checks.add(() ->
                    check(dir, starts.getOrDefault(partition.toString(), -1L), listing.entries(partition))));
            Figures all = new Figures();
            all.objects(listing.objects());
            for (Future<Figures> check : pool.invokeAll(checks)) {
                all.add(check.get());
            }
            return all;
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        } finally {
            pool.shutdownNow();
        }
    }

    private Figures check(Path dir, long start, List<RemoteWalLogSegmentMetadata> entries) throws Exception {
        try (BrokerLog log = new BrokerLog(dir, start)) {
            return new PartitionCheck(log, reader).run(entries);
        } catch (RuntimeException e) {
            // What Kafka's own code finds does not say where.
            throw new IOException(dir.getFileName() + ": " + e.getMessage(), e);
        }
    }

    private static Map<TopicPartition, Path> find(List<Path> logDirs, Predicate<TopicPartition> wanted)
            throws IOException {
        Map<TopicPartition, Path> found = new TreeMap<>(
                Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition));
        for (Path logDir : logDirs) {
            try (Stream<Path> dirs = Files.list(logDir)) {
                for (Path dir : (Iterable<Path>) dirs::iterator) {
                    Matcher name = PARTITION_DIR.matcher(dir.getFileName().toString());
                    if (!name.matches()) {
                        continue;
                    }
                    TopicPartition partition = new TopicPartition(name.group(1), Integer.parseInt(name.group(2)));
                    if (wanted.test(partition)) {
                        found.put(partition, dir);
                    }
                }
            }
        }
        return found;
    }
}
