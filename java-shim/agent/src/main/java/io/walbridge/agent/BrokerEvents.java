// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/** What the woven class calls: public, since the calls come from Kafka's own packages. */
public final class BrokerEvents {
    private static final Duration START_WAIT = Duration.ofSeconds(1);
    private static final Duration FLUSH = Duration.ofSeconds(5);
    private static final Duration STOP = Duration.ofSeconds(2);

    private static final Logger LOG = LoggerFactory.getLogger(BrokerEvents.class);

    private static final AtomicLong DELTAS_APPLIED = new AtomicLong();
    /** By kafka.cluster.Partition, which is equal to another of the same name. */
    private static final Map<Object, Runnable> APPEND_LISTENERS = new ConcurrentHashMap<>();

    private static volatile boolean off;
    private static FutureTask<Optional<DataPath>> started;

    private BrokerEvents() {}

    /** The broker has made its ReplicaManager. Returns at once: the data path starts on a thread of its own. */
    public static synchronized void created(Object replicaManager) {
        if (off) {
            return;
        }
        started = new FutureTask<>(() -> start(replicaManager));
        Thread thread = new Thread(started, "walbridge-start");
        thread.setDaemon(true);
        thread.start();
    }

    /** The broker has taken over a change of the cluster's metadata. On its metadata thread, which must not wait. */
    public static void deltaApplied() {
        DELTAS_APPLIED.incrementAndGet();
    }

    /** Records were appended to a partition that this broker leads. On the thread of a request, which must not wait. */
    public static void appended(Object partition) {
        Runnable listener = APPEND_LISTENERS.get(partition);
        if (listener != null) {
            listener.run();
        }
    }

    /** A class of the broker could not be woven: nothing is uploaded, since half of it would be worse. Returns at once. */
    static void turnOff() {
        off = true;
        Thread thread = new Thread(BrokerEvents::stop, "walbridge-stop");
        thread.setDaemon(true);
        thread.start();
    }

    private static synchronized void stop() {
        if (started != null) {
            shuttingDown();
        }
    }

    static void onAppend(Object partition, Runnable listener) {
        APPEND_LISTENERS.put(partition, listener);
    }

    static void removeOnAppend(Object partition, Runnable listener) {
        APPEND_LISTENERS.remove(partition, listener);
    }

    static long deltasApplied() {
        return DELTAS_APPLIED.get();
    }

    private static Optional<DataPath> start(Object replicaManager) {
        try {
            return DataPath.start(replicaManager);
        } catch (Throwable e) {
            LOG.error("Walbridge is off", e);
            return Optional.empty();
        }
    }

    /**
     * The broker shuts its ReplicaManager down: all clients are gone, the logs are still open. What they hold is
     * stored first, which takes some seconds at most.
     */
    public static synchronized void shuttingDown() {
        if (started == null) {
            return;
        }
        try {
            Optional<DataPath> dataPath = started.get(START_WAIT.toMillis(), TimeUnit.MILLISECONDS);
            if (dataPath.isPresent()) {
                dataPath.get().close(FLUSH, STOP);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.warn("Walbridge did not start before the broker's end", e);
        }
        started = null;
    }
}
