// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.server.log.remote.storage.RemoteWalStorageManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Uploads the partitions that this broker leads to the WAL: the scanner finds what has grown, RLMWalTasks read it,
 * RLMWalCombinerTasks copy it. What cannot be stored stays in the logs, and nothing here ever waits in a thread of
 * the broker, but for {@link #close}.
 */
final class RemoteWalManager {
    private static final Duration LOG_PERIOD = Duration.ofSeconds(30);
    private static final int RESUME_THREADS = 4;
    private static final Duration RESUME_PATIENCE = Duration.ofMinutes(5);
    private static final Duration POLL = Duration.ofMillis(5);

    private static final Logger LOG = LoggerFactory.getLogger(RemoteWalManager.class);

    private final RemoteWalStorageManager storage;
    private final CopyMetrics metrics;
    private final Broker broker;
    private final Growth growth = new Growth();
    private final Runnable onLeadershipChange = growth::wake;
    private final LedPartitions partitions;
    private final StoredEnds remembered;
    private final Resumption resumption;
    private final Checkpointer checkpointer;
    private final Buffered buffered;
    private final ExecutorService readers;
    private final ExecutorService resumers;
    private final UntilStopped scanner;
    private final Thread scannerThread;
    private final Thread checkpointThread;
    private final List<UntilStopped> combiners = new ArrayList<>();
    private final List<Thread> combinerThreads = new ArrayList<>();

    /**
     * Starts nothing yet.
     *
     * @param storage configured already, and closed by {@link #close}
     * @param metrics counts what is done
     * @param remembered where earlier uploads of this process got to, and where this one gets to
     * @param listener is told how copies end
     */
    RemoteWalManager(RemoteWalManagerConfig config, Broker broker, RemoteWalStorageManager storage,
                     CopyMetrics metrics, StoredEnds remembered, CopyListener listener) {
        this.storage = storage;
        this.metrics = metrics;
        this.remembered = remembered;
        SectionQueue queue = new SectionQueue(config.getInt(RemoteWalManagerConfig.COMBINER_QUEUE));
        LogThrottle throttle = new LogThrottle(LOG_PERIOD);
        this.broker = broker;
        resumers = onDemand(RESUME_THREADS, threadFactory("walbridge-resume-"));
        resumption = new Resumption(storage, remembered, resumers, throttle, RESUME_PATIENCE, growth::wake);
        partitions = new LedPartitions(broker, new TopicSelection(config.topics()), growth, remembered, resumption);
        checkpointer = new Checkpointer(broker.logDirectories(), this::storedEnds, throttle);
        checkpointThread = threadFactory("walbridge-checkpoint-").newThread(checkpointer);
        buffered = new Buffered(config.getLong(RemoteWalManagerConfig.BUFFER_BYTES));
        readers = Executors.newFixedThreadPool(config.getInt(RemoteWalManagerConfig.THREADS),
                threadFactory("walbridge-wal-task-"));
        FromFiles fromFiles = new FromFiles(config.getBoolean(RemoteWalManagerConfig.COPY_FROM_FILES),
                System::nanoTime);
        scanner = new UntilStopped(new PartitionScanner(partitions, growth, queue, buffered, fromFiles,
                config.getLong(RemoteWalManagerConfig.MAX_BACKLOG_BYTES),
                config.getLong(RemoteWalManagerConfig.LINGER_MS), readers, metrics, throttle), throttle);
        scannerThread = threadFactory("walbridge-scanner-").newThread(scanner);
        CombinedCopy copy = new CombinedCopy(broker, storage, listener);
        ThreadFactory combinerFactory = threadFactory("walbridge-combiner-");
        for (int i = 0; i < config.getInt(RemoteWalManagerConfig.COMBINER_THREADS); i++) {
            UntilStopped combiner = new UntilStopped(new RLMWalCombinerTask(queue, copy, buffered, fromFiles, metrics,
                    throttle, config.getInt(RemoteWalManagerConfig.COMBINER_MAX_BYTES)), throttle);
            combiners.add(combiner);
            combinerThreads.add(combinerFactory.newThread(combiner));
        }
    }

    /** What fails here, such as for want of a thread, has to be followed by {@link #close}. */
    void start() {
        checkpointer.load(resumption);
        broker.onLeadershipChange(onLeadershipChange);
        combinerThreads.forEach(Thread::start);
        scannerThread.start();
        checkpointThread.start();
    }

    /** Selects other topics, within some milliseconds. */
    void select(TopicSelection topics) {
        partitions.select(topics);
        growth.wake();
    }

    /**
     * Stops the upload for good. Where copies work, it first waits until everything is stored that the logs hold.
     *
     * @param flush how long that may take
     * @param stop how long the threads and the storage manager may take to end after that; they are left behind if
     *     they do not
     */
    void close(Duration flush, Duration stop) throws InterruptedException {
        try {
            if (!flushed(flush)) {
                LOG.warn("The WAL lacks {} records of this broker's logs", getLagRecords());
            }
        } finally {
            stop(stop);
        }
    }

    private void stop(Duration timeout) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        combiners.forEach(UntilStopped::stop);
        scanner.stop();
        broker.removeOnLeadershipChange(onLeadershipChange);
        growth.wake();
        combinerThreads.forEach(Thread::interrupt);
        // On a thread of its own, since nobody knows how long a storage manager takes.
        Thread end = threadFactory("walbridge-end-").newThread(() -> end(deadline));
        end.start();
        join(end, deadline);
    }

    private void end(long deadline) {
        try {
            join(scannerThread, deadline);
            readers.shutdown(); // Not shutdownNow: an interrupt during a read would close the segment's file channel.
            resumers.shutdown();
            for (Thread combiner : combinerThreads) {
                join(combiner, deadline);
            }
            partitions.end();
            checkpointer.stop();
            join(checkpointThread, deadline);
        } catch (InterruptedException e) {
            LOG.debug("Nobody interrupts this thread", e);
        } finally {
            StorageManagerLoader.close(storage);
        }
    }

    /** The latest of each partition last. */
    private Stream<StoredEnd> storedEnds() {
        Stream<StoredEnd> uploads = partitions.current().stream().map(WalPartition::storedEnd).filter(Objects::nonNull);
        return Stream.of(resumption.claims().stream(), remembered.all().stream(), uploads).flatMap(ends -> ends);
    }

    private static void join(Thread thread, long deadlineNanos) throws InterruptedException {
        thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime())));
    }

    private boolean flushed(Duration timeout) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (getLagRecords() > 0) {
            if (metrics.failing() || System.nanoTime() - deadline >= 0) {
                return false;
            }
            Thread.sleep(POLL.toMillis());
        }
        return true;
    }

    /** The figures are those of {@link RemoteWalManagerMXBean}. */
    long getBufferedBytes() {
        return buffered.held();
    }

    int getPartitions() {
        return (int) led().count();
    }

    long getLagRecords() {
        return led().mapToLong(WalPartition::lag).sum();
    }

    Map<String, Long> getWalStarts() {
        return led().collect(Collectors.toMap(RemoteWalManager::name, WalPartition::walStart));
    }

    Map<String, Long> getWalEnds() {
        return led().collect(Collectors.toMap(RemoteWalManager::name, WalPartition::walEnd));
    }

    long walEnd(String topic, int partition) {
        TopicPartition id = new TopicPartition(topic, partition);
        return led().filter(upload -> upload.led().id().topicPartition().equals(id))
                .mapToLong(WalPartition::walEnd).findAny().orElse(-1);
    }

    Map<String, String> getRefusedTopics() {
        return partitions.refused();
    }

    private static String name(WalPartition partition) {
        return partition.led().id().topicPartition().toString();
    }

    /** What has been found deposed does not count, even before the scanner notices. */
    private Stream<WalPartition> led() {
        return partitions.current().stream().filter(partition -> partition.led().stillLed());
    }

    /** Threads that end when there is nothing to do. */
    private static ExecutorService onDemand(int most, ThreadFactory factory) {
        ThreadPoolExecutor executor =
                new ThreadPoolExecutor(most, most, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /** Daemon threads, with the class loader that the storage manager's own classes expect. */
    private ThreadFactory threadFactory(String prefix) {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, prefix + number.getAndIncrement());
            thread.setDaemon(true);
            thread.setContextClassLoader(storage.getClass().getClassLoader());
            return thread;
        };
    }
}
