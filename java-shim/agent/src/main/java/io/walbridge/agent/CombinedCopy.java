// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.record.Records;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentId;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadata.RemoteLogSegmentMetadataEntry;
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadataUpdate;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadataUpdate;
import org.apache.kafka.server.log.remote.storage.RemoteWalStorageManager;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/** Copies sections of many partitions as one combined log segment. Thread-safe where the storage manager is. */
final class CombinedCopy {
    private final Broker broker;
    private final RemoteWalStorageManager storage;
    private final CopyListener listener;

    CombinedCopy(Broker broker, RemoteWalStorageManager storage, CopyListener listener) {
        this.broker = broker;
        this.storage = storage;
        this.listener = listener;
    }

    /**
     * Copies what of the sections is still led. All of it is durable on return; after an exception nothing is known.
     *
     * @return the sections copied; the others are of no use to anybody
     */
    List<StoredSection> copy(List<WalSection> sections) throws RemoteStorageException {
        try {
            List<StoredSection> stored = stored(sections);
            listener.stored(stored);
            return stored;
        } catch (RemoteStorageException | RuntimeException | Error e) {
            listener.failed();
            throw e;
        }
    }

    private List<StoredSection> stored(List<WalSection> sections) throws RemoteStorageException {
        Uuid combinedSegmentId = Uuid.randomUuid();
        long now = System.currentTimeMillis();
        long since = now;
        List<WalSection> copied = new ArrayList<>(sections.size());
        List<RemoteWalLogSegmentMetadata> segments = new ArrayList<>(sections.size());
        List<RemoteLogSegmentMetadataEntry> entries = new ArrayList<>(sections.size());
        List<Object> records = new ArrayList<>(sections.size());
        for (WalSection section : sections) {
            if (section.partition().led().stillLed()) {
                RemoteWalLogSegmentMetadata segment = describe(section, now, id(combinedSegmentId, segments.size() + 1))
                        .createWithUpdate(combinedSegmentId);
                copied.add(section);
                since = Math.min(since, section.since());
                segments.add(segment);
                entries.add(new RemoteLogSegmentMetadataEntry(segment.remoteLogSegmentId(), -1, -1));
                records.add(section.inFile() == null
                        ? broker.records(section.batches().bytes())
                        : section.inFile().records());
            }
        }
        if (copied.isEmpty()) {
            return List.of();
        }
        RemoteWalCombinedLogSegmentMetadata combined =
                new RemoteWalCombinedLogSegmentMetadata(combinedSegmentId, entries, broker.id(), since);
        RemoteWalCombinedLogSegmentMetadataUpdate update =
                storage.copyLogSegmentData(combined, asRecords(records), segments);
        check(combined, copied, update);
        List<StoredSection> stored = new ArrayList<>(copied.size());
        for (int i = 0; i < copied.size(); i++) {
            stored.add(new StoredSection(copied.get(i), segments.get(i).createWithUpdate(placed(update, i))));
        }
        return stored;
    }

    /** As unique as the combined segment's, without another 16 random bytes for each section. */
    private static Uuid id(Uuid combinedSegmentId, int number) {
        return new Uuid(combinedSegmentId.getMostSignificantBits(),
                combinedSegmentId.getLeastSignificantBits() + number);
    }

    private RemoteWalLogSegmentMetadata describe(WalSection section, long now, Uuid id) {
        LedPartition led = section.partition().led();
        RecordBatches.Run batches = section.batches();
        return new RemoteWalLogSegmentMetadata(new RemoteLogSegmentId(led.id(), id),
                batches.baseOffset(), batches.lastOffset(), batches.maxTimestamp(), broker.id(), broker.epoch(), now,
                led.leaderEpoch(), lineage(section), led.logStartOffset(), led.logDirId(),
                led.segmentBytes());
    }

    /**
     * Where the log start lies within a batch, Kafka has moved the start of the first epoch there. The batch is of that
     * epoch as a whole.
     */
    private static NavigableMap<Integer, Long> lineage(WalSection section) {
        NavigableMap<Integer, Long> lineage = section.partition().lineage();
        RecordBatches.Run batches = section.batches();
        if (lineage.firstKey() != batches.leaderEpoch() || lineage.firstEntry().getValue() <= batches.baseOffset()) {
            return lineage;
        }
        NavigableMap<Integer, Long> whole = new TreeMap<>(lineage);
        whole.put(batches.leaderEpoch(), batches.baseOffset());
        return whole;
    }

    /** Believes a storage manager only where it says that it has stored exactly what it was given. */
    private static void check(RemoteWalCombinedLogSegmentMetadata combined, List<WalSection> copied,
                              RemoteWalCombinedLogSegmentMetadataUpdate update) throws RemoteStorageException {
        List<RemoteLogSegmentMetadataEntry> places =
                update == null ? List.of() : update.remoteLogSegmentMetadataEntries();
        boolean same = update != null && update.combinedSegmentId().equals(combined.combinedSegmentId())
                && places.size() == copied.size();
        for (int i = 0; same && i < places.size(); i++) {
            RemoteLogSegmentMetadataEntry place = places.get(i);
            RemoteLogSegmentId asked = combined.remoteLogSegmentMetadataEntries().get(i).remoteLogSegmentId();
            same = place.remoteLogSegmentId().equals(asked)
                    && place.endFilePosition() - place.startFilePosition() + 1 == copied.get(i).sizeInBytes();
        }
        if (!same) {
            throw new RemoteStorageException("The answer does not fit what was copied: " + update);
        }
    }

    /** Where the section of that number is. */
    private static RemoteWalLogSegmentMetadataUpdate placed(RemoteWalCombinedLogSegmentMetadataUpdate update, int i) {
        RemoteLogSegmentMetadataEntry place = update.remoteLogSegmentMetadataEntries().get(i);
        return new RemoteWalLogSegmentMetadataUpdate(place.remoteLogSegmentId(), update.eventTimestampMs(),
                update.customMetadata(), update.state(), update.brokerId(), update.combinedSegmentId(),
                update.topicIdPartition(), place.startFilePosition(), place.endFilePosition());
    }

    /** The list's elements are Records of the running Kafka, whatever package that class is in. */
    @SuppressWarnings("unchecked")
    private static List<Records> asRecords(List<?> records) {
        return (List<Records>) records;
    }
}
