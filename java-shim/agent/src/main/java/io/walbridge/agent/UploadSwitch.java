// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.Reconfigurable;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.server.log.remote.storage.RemoteWalStorageManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/**
 * Switches the upload on and off while the broker runs: by the broker's configuration, which can be changed
 * dynamically, and over JMX. The later word counts. What outlives a switch is here: counters, and how far each
 * partition was stored. While the upload is off it has no thread, no connection and no buffer.
 *
 * <p>Everything is switched on one thread, which is there only while it has something to do.
 */
final class UploadSwitch implements RemoteWalManagerMXBean, Reconfigurable {
    /** How long the threads of the upload may take to end. */
    private static final Duration STOP = Duration.ofSeconds(1);
    private static final Duration JMX_WAIT = Duration.ofSeconds(30);
    private static final Duration KEEP_THREAD = Duration.ofSeconds(1);

    private static final Logger LOG = LoggerFactory.getLogger(UploadSwitch.class);

    private final Broker broker;
    private final CopyListener listener;
    private final CopyMetrics metrics = new CopyMetrics();
    private final StoredEnds storedEnds = new StoredEnds();
    private final ThreadPoolExecutor thread;
    /** The last configuration that was valid; null where none was. */
    private volatile RemoteWalManagerConfig config;
    /** Null while the upload is off. */
    private volatile RemoteWalManager manager;
    private volatile boolean reconfigured;

    /**
     * The upload is off.
     *
     * @param listener is told how copies end
     */
    UploadSwitch(Broker broker, CopyListener listener) {
        this.broker = broker;
        this.listener = listener;
        thread = new ThreadPoolExecutor(1, 1, KEEP_THREAD.toMillis(), TimeUnit.MILLISECONDS,
                new LinkedBlockingQueue<>(), task -> {
                    Thread made = new Thread(task, "walbridge-switch");
                    made.setDaemon(true);
                    made.setContextClassLoader(UploadSwitch.class.getClassLoader());
                    return made;
                });
        thread.allowCoreThreadTimeOut(true);
    }

    /** Takes the configuration that the broker has now, unless a change of it has come already. Does not wait. */
    void configureFirst(Map<String, ?> properties) {
        thread.execute(() -> {
            if (!reconfigured) {
                apply(properties);
            }
        });
    }

    /**
     * Stops the upload for good, after what the logs hold has been stored. It takes shutdown.timeout.ms, and two
     * seconds for what does not end. Idempotent.
     */
    void close() throws InterruptedException {
        RemoteWalManagerConfig last = config;
        Duration flush = last == null ? Duration.ZERO
                : Duration.ofMillis(last.getLong(RemoteWalManagerConfig.SHUTDOWN_TIMEOUT_MS));
        if (!thread.isShutdown()) {
            thread.submit(() -> switchOff(flush));
            thread.shutdown();
        }
        if (!thread.awaitTermination(flush.plus(STOP).plus(STOP).toMillis(), TimeUnit.MILLISECONDS)) {
            LOG.warn("Walbridge has not ended yet; the broker goes on without it");
        }
    }

    @Override
    public void configure(Map<String, ?> configs) {}

    @Override
    public Set<String> reconfigurableConfigs() {
        return RemoteWalManagerConfig.DEFINITION.names();
    }

    /** Refuses nothing: Kafka would then take over none of its own changes either that came with it, see ADR 5. */
    @Override
    public void validateReconfiguration(Map<String, ?> configs) {}

    /** Called on the broker's metadata thread, which must not wait. */
    @Override
    public void reconfigure(Map<String, ?> configs) {
        reconfigured = true;
        try {
            thread.execute(() -> apply(configs));
        } catch (RejectedExecutionException e) {
            LOG.debug("The broker is shutting down", e);
        }
    }

    private void apply(Map<String, ?> properties) {
        RemoteWalManagerConfig before = config;
        try {
            config = new RemoteWalManagerConfig(properties);
            if (before == null || before.enabled() != config.enabled()) {
                follow(config.enabled());
            } else if (!before.topicNames().equals(config.topicNames())) {
                select();
            }
        } catch (ConfigException e) {
            LOG.error("Walbridge {}: {}", manager == null ? "is off" : "keeps its configuration", e.getMessage());
        } catch (Exception | Error e) {
            LOG.error("Walbridge is off", e);
        }
    }

    private void follow(boolean enabled) throws InterruptedException {
        if (enabled) {
            switchOn();
        } else {
            switchOff(Duration.ZERO);
            LOG.info("Walbridge is off: {} is not true", RemoteWalManagerConfig.ENABLE);
        }
    }

    private void select() {
        if (manager != null) {
            manager.select(new TopicSelection(config.topics()));
            LOG.info("Walbridge stores the topics {} in the WAL from now on", config.topicNames());
        }
    }

    /** All of it or nothing: what fails half-way leaves neither a thread nor a storage manager behind. */
    private void switchOn() throws InterruptedException {
        if (manager != null) {
            return;
        }
        RemoteWalStorageManager storage = StorageManagerLoader.create(config, broker);
        RemoteWalManager starting = null;
        try {
            starting = new RemoteWalManager(config, broker, storage, metrics, storedEnds, listener);
            starting.start();
            manager = starting;
        } finally {
            if (manager == null && starting != null) {
                starting.close(Duration.ZERO, STOP);
            } else if (manager == null) {
                StorageManagerLoader.close(storage);
            }
        }
        LOG.info("Walbridge stores the topics {} of cluster {} in the WAL, through {}", config.topicNames(),
                broker.clusterId(), storage.getClass().getName());
    }

    private Void switchOff(Duration flush) throws InterruptedException {
        RemoteWalManager ending = manager;
        manager = null;
        if (ending != null) {
            ending.close(flush, STOP);
            listener.failed();
        }
        return null;
    }

    @Override
    public boolean isEnabled() {
        return manager != null;
    }

    @Override
    public void setEnabled(boolean enabled) {
        // An exception must not bring a class that the caller over JMX does not have.
        try {
            waitFor(() -> {
                if (config == null) {
                    throw new IllegalStateException("the broker's configuration is not valid");
                } else if (enabled) {
                    switchOn();
                } else {
                    switchOff(Duration.ZERO);
                    LOG.info("Walbridge is off: it was switched off over JMX");
                }
                return null;
            });
        } catch (ExecutionException e) {
            LOG.error("Walbridge cannot be switched over JMX", e.getCause());
            throw new IllegalStateException("Walbridge cannot be switched: " + e.getCause());
        } catch (TimeoutException e) {
            throw new IllegalStateException("Walbridge is still being switched after " + JMX_WAIT);
        } catch (RejectedExecutionException e) {
            throw new IllegalStateException("the broker is shutting down");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted");
        }
    }

    private void waitFor(Callable<Void> task) throws ExecutionException, TimeoutException, InterruptedException {
        Future<Void> done = thread.submit(task);
        done.get(JMX_WAIT.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public List<String> getTopics() {
        RemoteWalManagerConfig now = config;
        return now == null ? List.of() : now.topicNames();
    }

    @Override
    public Map<String, String> getRefusedTopics() {
        return ask(RemoteWalManager::getRefusedTopics, Map.of());
    }

    @Override
    public long getCopies() {
        return metrics.copies();
    }

    @Override
    public long getFailedCopies() {
        return metrics.failures();
    }

    @Override
    public long getSections() {
        return metrics.sections();
    }

    @Override
    public long getRecords() {
        return metrics.records();
    }

    @Override
    public long getBytes() {
        return metrics.bytes();
    }

    @Override
    public long getSkippedRecords() {
        return metrics.skippedRecords();
    }

    @Override
    public long getSkippedBytes() {
        return metrics.skippedBytes();
    }

    @Override
    public long getBufferedBytes() {
        return ask(RemoteWalManager::getBufferedBytes, 0L);
    }

    @Override
    public int getPartitions() {
        return ask(RemoteWalManager::getPartitions, 0);
    }

    @Override
    public long getLagRecords() {
        return ask(RemoteWalManager::getLagRecords, 0L);
    }

    @Override
    public Map<String, Long> getWalStarts() {
        return ask(RemoteWalManager::getWalStarts, Map.of());
    }

    @Override
    public Map<String, Long> getWalEnds() {
        return ask(RemoteWalManager::getWalEnds, Map.of());
    }

    @Override
    public long walEnd(String topic, int partition) {
        return ask(running -> running.walEnd(topic, partition), -1L);
    }

    private <T> T ask(Function<RemoteWalManager, T> question, T whileOff) {
        RemoteWalManager running = manager;
        return running == null ? whileOff : question.apply(running);
    }
}
