// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Writes how far partitions are stored into the log directories, every few seconds and at the end, so that the next
 * start of the broker goes on there. What it writes holds for the WAL whatever becomes of the logs; to lose it, or the
 * last seconds of it, means to upload more.
 */
final class Checkpointer implements Runnable {
    private static final Duration PERIOD = Duration.ofSeconds(5);

    private static final Logger LOG = LoggerFactory.getLogger(Checkpointer.class);

    private final Map<Uuid, Path> directories;
    private final Supplier<Stream<StoredEnd>> ends;
    private final LogThrottle throttle;
    private final CountDownLatch stopped = new CountDownLatch(1);
    /** What each directory's file is known to hold. */
    private final Map<Path, Set<StoredEnd>> written = new HashMap<>();

    /**
     * @param directories the log directories, by their ids
     * @param ends what to write; of two of the same partition the later one counts
     */
    Checkpointer(Map<Uuid, Path> directories, Supplier<Stream<StoredEnd>> ends, LogThrottle throttle) {
        this.directories = new LinkedHashMap<>(directories);
        this.ends = ends;
        this.throttle = throttle;
    }

    /** Reads every directory's file, before run is called. Partitions that the broker has no log of are left out. */
    void load(Resumption resumption) {
        for (Path directory : directories.values()) {
            try {
                List<StoredEnd> read = new CheckpointFile(directory).read();
                written.put(directory, Set.copyOf(read));
                read.stream().filter(this::hasLog).forEach(resumption::claim);
            } catch (IOException | RuntimeException e) {
                LOG.warn("Ignoring a checkpoint of the WAL; logs are uploaded from their start: {}", e.toString());
            }
        }
    }

    /** Makes run write once more and return. */
    void stop() {
        stopped.countDown();
    }

    @Override
    public void run() {
        try {
            boolean last;
            do {
                last = stopped.await(PERIOD.toNanos(), TimeUnit.NANOSECONDS);
                try {
                    write();
                } catch (RuntimeException | Error e) {
                    if (throttle.allows(Checkpointer.class)) {
                        LOG.warn("Cannot write the checkpoints of the WAL; trying again", e);
                    }
                }
            } while (!last);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void write() {
        if (directories.isEmpty()) {
            return;
        }
        Map<TopicPartition, StoredEnd> latest = new HashMap<>();
        ends.get().forEach(end -> latest.put(end.id().topicPartition(), end));
        Map<Path, Set<StoredEnd>> all = new HashMap<>();
        latest.values().forEach(end -> all.computeIfAbsent(directory(end), path -> new HashSet<>()).add(end));
        for (Path directory : directories.values()) {
            Set<StoredEnd> now = all.getOrDefault(directory, Set.of());
            if (now.equals(written.getOrDefault(directory, Set.of()))) {
                continue;
            }
            try {
                new CheckpointFile(directory).write(now);
                written.put(directory, now);
            } catch (IOException | RuntimeException e) {
                if (throttle.allows(directory)) {
                    LOG.warn("Cannot write a checkpoint of the WAL to {}; trying again: {}", directory, e.toString());
                }
            }
        }
    }

    /** The one that held the log then. Any other would do: they are all read. */
    private Path directory(StoredEnd end) {
        return directories.getOrDefault(end.section().logDirId(), directories.values().iterator().next());
    }

    private boolean hasLog(StoredEnd end) {
        String name = end.id().topicPartition().toString();
        return directories.values().stream().anyMatch(directory -> Files.isDirectory(directory.resolve(name)));
    }
}
