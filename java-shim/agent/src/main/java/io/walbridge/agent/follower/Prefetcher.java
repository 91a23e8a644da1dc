// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import com.google.protobuf.ByteString;
import io.walbridge.proto.v1.EntryLocation;
import io.walbridge.proto.v1.EntryRange;
import io.walbridge.shim.WalClient;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Reads sections from this broker's daemon, on threads of its own: those of one extent with one call. Memory is bounded
 * by what leaders offer in one response to each of the threads that fetch.
 */
final class Prefetcher implements AutoCloseable {
    private static final int THREADS = 4;
    private static final int MAX_QUEUED = 1024;
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);

    private static final Logger LOG = LoggerFactory.getLogger(Prefetcher.class);

    private final WalClient daemon;
    private final FollowerCounters counters;
    private final ExecutorService pool;
    private final AtomicBoolean connecting = new AtomicBoolean();
    private volatile boolean connected;

    Prefetcher(WalClient daemon, FollowerCounters counters) {
        this.daemon = daemon;
        this.counters = counters;
        AtomicInteger number = new AtomicInteger();
        BlockingQueue<Runnable> queue = new ArrayBlockingQueue<>(MAX_QUEUED);
        pool = new ThreadPoolExecutor(THREADS, THREADS, 0, TimeUnit.SECONDS, queue, task -> {
            Thread thread = new Thread(task, "walbridge-prefetch-" + number.getAndIncrement());
            thread.setDaemon(true);
            return thread;
        });
    }

    /**
     * Whether the daemon has ever answered. A JVM's first call takes long, so it is made, in the background, before
     * anything depends on it.
     */
    boolean connected() {
        if (!connected && connecting.compareAndSet(false, true)) {
            try {
                pool.execute(this::connect);
            } catch (RejectedExecutionException e) {
                connecting.set(false);
            }
        }
        return connected;
    }

    private void connect() {
        try {
            daemon.status(CONNECT_TIMEOUT);
            connected = true;
        } catch (RemoteStorageException | RuntimeException e) {
            LOG.debug("No daemon yet", e);
        } finally {
            connecting.set(false);
        }
    }

    /** Begins to read. What there is no room for fails at once. */
    Map<Pointer, Future<ByteBuffer>> read(Map<Pointer, Offer> wanted) {
        Map<ByteString, Map<Pointer, CompletableFuture<ByteBuffer>>> byExtent = new LinkedHashMap<>();
        Map<Pointer, Future<ByteBuffer>> all = new HashMap<>();
        for (Pointer pointer : wanted.keySet()) {
            CompletableFuture<ByteBuffer> section = new CompletableFuture<>();
            byExtent.computeIfAbsent(pointer.extent(), any -> new LinkedHashMap<>()).put(pointer, section);
            all.put(pointer, section);
        }
        byExtent.forEach((extent, sections) -> {
            try {
                pool.execute(() -> read(extent, sections, wanted));
            } catch (RejectedExecutionException e) {
                sections.values().forEach(section -> section.completeExceptionally(e));
            }
        });
        return all;
    }

    private void read(ByteString extent, Map<Pointer, CompletableFuture<ByteBuffer>> sections,
                      Map<Pointer, Offer> wanted) {
        List<EntryRange> ranges = new ArrayList<>(sections.size());
        sections.keySet().forEach(pointer -> ranges.add(range(pointer, wanted.get(pointer))));
        List<CompletableFuture<ByteBuffer>> inOrder = List.copyOf(sections.values());
        if (inOrder.stream().allMatch(Future::isCancelled)) {
            return;
        }
        long began = System.nanoTime();
        try {
            daemon.fetchEntries(extent, ranges, (i, bytes) -> inOrder.get(i).complete(bytes));
            counters.fetchedExtents.increment();
            counters.fetchNanos.add(System.nanoTime() - began);
        } catch (RemoteStorageException | RuntimeException e) {
            counters.failedFetches.increment();
            LOG.debug("Cannot read {} sections from the WAL", ranges.size(), e);
            inOrder.forEach(section -> section.completeExceptionally(e));
        }
    }

    private static EntryRange range(Pointer pointer, Offer offer) {
        return EntryRange.newBuilder()
                .setEntry(EntryLocation.newBuilder().setPosition(pointer.position()).setLength(pointer.length()))
                .setTopicId(bytes(offer.topicId()))
                .setPartition(offer.partition())
                .setEndPosition(Integer.MAX_VALUE)
                .build();
    }

    private static ByteString bytes(Uuid id) {
        ByteBuffer bytes = ByteBuffer.allocate(2 * Long.BYTES);
        bytes.putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
        return ByteString.copyFrom(bytes.flip());
    }

    @Override
    public void close() {
        pool.shutdownNow();
        daemon.close();
    }
}
