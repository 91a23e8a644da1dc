// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.record.Records;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentState;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadata.RemoteLogSegmentMetadataEntry;
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadataUpdate;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteWalStorageManager;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** A store in memory that can be slow, fail before or after it has stored, and answer rubbish. */
final class FakeStorage implements RemoteWalStorageManager {
    /** What was stored, in the order of completion; the bytes are a copy. */
    record Stored(RemoteWalLogSegmentMetadata metadata, byte[] bytes) {}

    final ConcurrentLinkedQueue<Stored> stored = new ConcurrentLinkedQueue<>();
    final AtomicInteger largestCopy = new AtomicInteger();
    final AtomicInteger fetches = new AtomicInteger();
    /** Copies that fail, of 100. */
    volatile int failures;
    volatile int maxDelayMs;
    volatile boolean down;
    /** Sections that are in files are refused. */
    volatile boolean noFiles;
    final AtomicInteger fromFiles = new AtomicInteger();
    volatile Predicate<RemoteWalLogSegmentMetadata> refused = segment -> false;
    /** What every copy throws; null where none is to. */
    volatile Supplier<Error> error;
    volatile boolean closed;

    @Override
    public RemoteWalCombinedLogSegmentMetadataUpdate copyLogSegmentData(
            RemoteWalCombinedLogSegmentMetadata combined, List<Records> recordsList,
            List<RemoteWalLogSegmentMetadata> segments) throws RemoteStorageException {
        delay();
        List<?> records = recordsList;
        if (noFiles && records.stream().anyMatch(FakeBroker.InFile.class::isInstance)) {
            throw new RemoteStorageException("cannot read the file");
        }
        Supplier<Error> thrown = error;
        if (thrown != null) {
            throw thrown.get();
        }
        if (down || segments.stream().anyMatch(refused)) {
            throw new RemoteStorageException("down");
        }
        boolean fails = ThreadLocalRandom.current().nextInt(100) < failures;
        int kind = fails ? ThreadLocalRandom.current().nextInt(4) : -1;
        if (kind == 0) {
            throw new RemoteStorageException("failed before it was stored");
        }
        List<RemoteLogSegmentMetadataEntry> entries = store(combined, recordsList, segments);
        return switch (kind) {
            case 1 -> throw new IllegalStateException("failed after it was stored");
            case 2 -> null;
            case 3 -> update(combined, List.of(new RemoteLogSegmentMetadataEntry(
                    entries.get(0).remoteLogSegmentId(), 0, 0)));
            default -> update(combined, entries);
        };
    }

    private List<RemoteLogSegmentMetadataEntry> store(RemoteWalCombinedLogSegmentMetadata combined, List<?> records,
                                                      List<RemoteWalLogSegmentMetadata> segments) {
        List<RemoteLogSegmentMetadataEntry> entries = new ArrayList<>();
        int position = 0;
        for (int i = 0; i < segments.size(); i++) {
            boolean inFile = records.get(i) instanceof FakeBroker.InFile;
            fromFiles.addAndGet(inFile ? 1 : 0);
            ByteBuffer from = inFile
                    ? ((FakeBroker.InFile) records.get(i)).bytes().duplicate()
                    : ((ByteBuffer) records.get(i)).duplicate();
            byte[] bytes = new byte[from.remaining()];
            from.get(bytes);
            stored.add(new Stored(segments.get(i), bytes));
            entries.add(new RemoteLogSegmentMetadataEntry(
                    combined.remoteLogSegmentMetadataEntries().get(i).remoteLogSegmentId(), position,
                    position + bytes.length - 1));
            position += bytes.length;
        }
        largestCopy.accumulateAndGet(position, Math::max);
        return entries;
    }

    private static RemoteWalCombinedLogSegmentMetadataUpdate update(RemoteWalCombinedLogSegmentMetadata combined,
                                                                    List<RemoteLogSegmentMetadataEntry> entries) {
        return new RemoteWalCombinedLogSegmentMetadataUpdate(combined.combinedSegmentId(), entries,
                Optional.of(new CustomMetadata(new byte[8])), RemoteLogSegmentState.COPY_SEGMENT_FINISHED, 1, 0);
    }

    private void delay() throws RemoteStorageException {
        try {
            if (maxDelayMs > 0) {
                Thread.sleep(ThreadLocalRandom.current().nextInt(maxDelayMs + 1));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RemoteStorageException("interrupted", e);
        }
    }

    @Override
    public RemoteWalCombinedLogSegmentMetadataUpdate copyLogSegmentData(
            RemoteWalCombinedLogSegmentMetadata combined, List<Records> recordsList) {
        throw new AssertionError("the agent must use the method that knows the offsets");
    }

    @Override
    public InputStream fetchLogSegment(RemoteWalLogSegmentMetadata segment, int from, int to)
            throws RemoteStorageException {
        if (down) {
            throw new RemoteStorageException("down");
        }
        fetches.incrementAndGet();
        return stored.stream().filter(section -> section.metadata().remoteLogSegmentId().equals(
                segment.remoteLogSegmentId())).findAny().map(section -> new ByteArrayInputStream(section.bytes()))
                .orElseThrow(() -> new RemoteResourceNotFoundException(segment.remoteLogSegmentId() + " is gone"));
    }

    @Override
    public void configure(Map<String, ?> configs) {}

    @Override
    public void close() {
        closed = true;
    }
}
