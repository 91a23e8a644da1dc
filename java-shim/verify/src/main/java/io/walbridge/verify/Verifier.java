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

    Figures run(List<Path> logDirs, Set<String> topics) throws Exception {
        Map<TopicPartition, Path> logs = find(logDirs, topics);
        for (TopicPartition partition : listing.partitions()) {
            if (topics.contains(partition.topic()) && !logs.containsKey(partition)) {
                throw new MismatchException("%s is stored, but the broker has no log of it", partition);
            }
        }
        ExecutorService pool = Executors.newFixedThreadPool(PARALLEL);
        try {
            List<Callable<Figures>> checks = new ArrayList<>();
            logs.forEach((partition, dir) -> checks.add(() -> check(dir, listing.entries(partition))));
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

    private Figures check(Path dir, List<RemoteWalLogSegmentMetadata> entries) throws Exception {
        try (BrokerLog log = new BrokerLog(dir)) {
            return new PartitionCheck(log, reader).run(entries);
        } catch (RuntimeException e) {
            // What Kafka's own code finds does not say where.
            throw new IOException(dir.getFileName() + ": " + e.getMessage(), e);
        }
    }

    private static Map<TopicPartition, Path> find(List<Path> logDirs, Set<String> topics) throws IOException {
        Map<TopicPartition, Path> found = new TreeMap<>(
                Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition));
        for (Path logDir : logDirs) {
            try (Stream<Path> dirs = Files.list(logDir)) {
                for (Path dir : (Iterable<Path>) dirs::iterator) {
                    Matcher name = PARTITION_DIR.matcher(dir.getFileName().toString());
                    if (name.matches() && topics.contains(name.group(1))) {
                        found.put(new TopicPartition(name.group(1), Integer.parseInt(name.group(2))), dir);
                    }
                }
            }
        }
        return found;
    }
}
