// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.record.Records;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadataUpdate;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteWalStorageManager;

import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** A FakeStorage that is made by name, as the configuration asks for it. The counters are of all there were. */
public final class SwitchedStorage implements RemoteWalStorageManager {
    private static final AtomicInteger MADE = new AtomicInteger();
    private static final AtomicInteger CLOSED = new AtomicInteger();
    private static final AtomicInteger WAITING = new AtomicInteger();
    private static volatile boolean failToConfigure;
    private static volatile CountDownLatch unmuted = new CountDownLatch(0);

    private final FakeStorage storage = new FakeStorage();

    static void reset() {
        MADE.set(0);
        CLOSED.set(0);
        WAITING.set(0);
    }

    static int made() {
        return MADE.get();
    }

    static int closed() {
        return CLOSED.get();
    }

    static int waiting() {
        return WAITING.get();
    }

    static void failToConfigure(boolean fail) {
        failToConfigure = fail;
    }

    /** While it is mute, copies and the closing wait, whoever interrupts them. */
    static void mute(boolean mute) {
        unmuted.countDown();
        unmuted = new CountDownLatch(mute ? 1 : 0);
    }

    @Override
    public void configure(Map<String, ?> configs) {
        MADE.incrementAndGet();
        if (failToConfigure) {
            throw new ConfigException("asked to fail");
        }
    }

    @Override
    public RemoteWalCombinedLogSegmentMetadataUpdate copyLogSegmentData(
            RemoteWalCombinedLogSegmentMetadata combined, List<Records> recordsList,
            List<RemoteWalLogSegmentMetadata> segments) throws RemoteStorageException {
        await();
        return storage.copyLogSegmentData(combined, recordsList, segments);
    }

    @Override
    public RemoteWalCombinedLogSegmentMetadataUpdate copyLogSegmentData(
            RemoteWalCombinedLogSegmentMetadata combined, List<Records> recordsList) {
        throw new AssertionError("the agent must use the method that knows the offsets");
    }

    @Override
    public InputStream fetchLogSegment(RemoteWalLogSegmentMetadata segment, int from, int to) {
        throw new AssertionError("the agent does not read");
    }

    @Override
    public void close() {
        await();
        CLOSED.incrementAndGet();
    }

    private static void await() {
        CountDownLatch latch = unmuted;
        WAITING.incrementAndGet();
        boolean interrupted = false;
        while (true) {
            try {
                latch.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
