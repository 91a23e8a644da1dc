// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.metrics.Metrics;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** What the woven class calls: public, since the calls come from Kafka's own packages. */
public final class BrokerEvents {
    private static final Duration START_WAIT = Duration.ofSeconds(1);

    private static final Logger LOG = LoggerFactory.getLogger(BrokerEvents.class);

    private static final AtomicLong DELTAS_APPLIED = new AtomicLong();
    private static final AtomicReference<Runnable> DELTA_LISTENER = new AtomicReference<>();
    /** By kafka.cluster.Partition, which is equal to another of the same name. */
    private static final Map<Object, Runnable> APPEND_LISTENERS = new ConcurrentHashMap<>();

    private static volatile boolean off;
    private static CompletableFuture<Optional<DataPath>> started;

    private BrokerEvents() {}

    /**
     * The broker has made its ReplicaManager. Returns at once: the data path starts on a thread of its own.
     *
     * @param arguments what its constructor was given, the broker's registry of metrics among it
     */
    public static synchronized void created(Object replicaManager, Object[] arguments) {
        if (off) {
            return;
        }
        CompletableFuture<Optional<DataPath>> starting = new CompletableFuture<>();
        started = starting;
        Thread thread = new Thread(() -> starting.complete(start(replicaManager, arguments)), "walbridge-start");
        thread.setDaemon(true);
        thread.start();
    }

    /** The broker has taken over a change of the cluster's metadata. On its metadata thread, which must not wait. */
    public static void deltaApplied() {
        DELTAS_APPLIED.incrementAndGet();
        Runnable listener = DELTA_LISTENER.get();
        if (listener != null) {
            listener.run();
        }
    }

    /** Records were appended to a partition that this broker leads. On the thread of a request, which must not wait. */
    public static void appended(Object partition) {
        Runnable listener = APPEND_LISTENERS.get(partition);
        if (listener != null) {
            listener.run();
        }
    }

    /** A class of the broker could not be woven: nothing is uploaded, half of it would be worse. Returns at once. */
    static void turnOff() {
        off = true;
        Thread thread = new Thread(BrokerEvents::shuttingDown, "walbridge-stop");
        thread.setDaemon(true);
        thread.start();
    }

    static boolean isOff() {
        return off;
    }

    static void onDelta(Runnable listener) {
        DELTA_LISTENER.set(listener);
    }

    static void removeOnDelta(Runnable listener) {
        DELTA_LISTENER.compareAndSet(listener, null);
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

    private static Optional<DataPath> start(Object replicaManager, Object[] arguments) {
        try {
            Metrics metrics = Arrays.stream(arguments).filter(Metrics.class::isInstance).map(Metrics.class::cast)
                    .findFirst().orElseThrow();
            return DataPath.start(replicaManager, metrics);
        } catch (Throwable e) {
            LOG.error("Walbridge is off", e);
            return Optional.empty();
        }
    }

    /**
     * The broker shuts its ReplicaManager down: all clients are gone, the logs are still open. What they hold is
     * stored first; {@link UploadSwitch#close} says how long that takes at most.
     */
    public static synchronized void shuttingDown() {
        if (started == null) {
            return;
        }
        CompletableFuture<Optional<DataPath>> starting = started;
        started = null;
        try {
            close(starting.get(START_WAIT.toMillis(), TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.warn("Walbridge did not start before the broker's end", e);
            starting.thenAccept(BrokerEvents::close);
        }
    }

    private static void close(Optional<DataPath> path) {
        try {
            if (path.isPresent()) {
                path.get().close();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
