// SPDX-License-Identifier: Apache-2.0
package io.walbridge.verify;

import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Checks all stored entries of one partition against the broker's log. It puts the log together as a reader of the WAL
 * would: entries of another topic id are of another topic, and batches that the newest lineage does not have are not
 * the log's any more. What is left must be the log, byte for byte, from its start to its end, and valid for Kafka down
 * to each record.
 */
final class PartitionCheck {
    private final BrokerLog log;
    private final EntryReader reader;
    private final Figures figures = new Figures();
    private Lineage lineage;
    /** The first offset that no entry so far holds. */
    private long covered;

    PartitionCheck(BrokerLog log, EntryReader reader) {
        this.log = log;
        this.reader = reader;
        covered = log.start();
    }

    Figures run(List<RemoteWalLogSegmentMetadata> all)
            throws MismatchException, IOException, RemoteStorageException {
        List<RemoteWalLogSegmentMetadata> entries = all.stream()
                .filter(entry -> entry.topicIdPartition().topicId().equals(log.topicId()))
                .sorted(Comparator.comparingLong(RemoteWalLogSegmentMetadata::startOffset)
                        .thenComparingInt(RemoteWalLogSegmentMetadata::leaderEpoch))
                .toList();
        lineage = Lineage.newest(entries);
        for (RemoteWalLogSegmentMetadata entry : entries) {
            check(entry, reader.read(entry));
        }
        if (covered != log.end()) {
            throw new MismatchException("%s: stored up to offset %d, but the log ends at %d", log, covered, log.end());
        }
        checkLineage();
        figures.partition();
        return figures;
    }

    /** Every epoch that the log has batches of begins where the WAL says. */
    private void checkLineage() throws MismatchException {
        for (Map.Entry<Integer, Long> epoch : log.epochs().entrySet()) {
            long start = epoch.getValue();
            Long stored = lineage.start(epoch.getKey());
            // Kafka moves an epoch's start when the log start passes it, and has epochs of which nothing was written.
            boolean written = log.epochs().higherEntry(epoch.getKey()) == null ? start < log.end()
                    : start < log.epochs().higherEntry(epoch.getKey()).getValue();
            if (written && start > log.start() && (stored == null || stored != start)) {
                throw new MismatchException("%s: the WAL says that leader epoch %d starts at %s, but the log says %d",
                        log, epoch.getKey(), stored, start);
            }
        }
    }

    private void check(RemoteWalLogSegmentMetadata entry, byte[] stored) throws MismatchException, IOException {
        MemoryRecords records = MemoryRecords.readableRecords(ByteBuffer.wrap(stored));
        int epoch = Lineage.batchEpoch(entry);
        long next = entry.startOffset();
        for (MutableRecordBatch batch : records.batches()) {
            if (batch.baseOffset() != next || batch.partitionLeaderEpoch() != epoch) {
                throw new MismatchException("%s: entry %d-%d of leader epoch %d has a batch of offset %d, epoch %d",
                        log, entry.startOffset(), entry.endOffset(), epoch, batch.baseOffset(),
                        batch.partitionLeaderEpoch());
            }
            next = batch.nextOffset();
            if (!lineage.holds(epoch, batch.baseOffset(), batch.lastOffset())) {
                figures.truncated();
            } else if (batch.lastOffset() >= log.start()) {
                compare(batch);
                cover(batch);
            }
        }
        if (next != entry.endOffset() + 1 || records.validBytes() != stored.length) {
            throw new MismatchException("%s: entry %d-%d of %d bytes holds whole batches up to offset %d, in %d bytes",
                    log, entry.startOffset(), entry.endOffset(), stored.length, next - 1, records.validBytes());
        }
        figures.entry(stored.length);
    }

    private void compare(MutableRecordBatch batch) throws MismatchException, IOException {
        ByteBuffer stored = ByteBuffer.allocate(batch.sizeInBytes());
        batch.writeTo(stored);
        ByteBuffer own = log.batch(batch.baseOffset());
        if (own == null) {
            throw new MismatchException("%s: the batch of offset %d is not in the log", log, batch.baseOffset());
        }
        int at = stored.flip().mismatch(own);
        if (at >= 0) {
            throw new MismatchException("%s: byte %d of the batch of offset %d is not the log's", log, at,
                    batch.baseOffset());
        }
    }

    /** Validates a batch and counts it, unless an earlier entry held it. */
    private void cover(MutableRecordBatch batch) throws MismatchException {
        if (batch.baseOffset() > covered) {
            throw new MismatchException("%s: offsets %d-%d are not stored", log, covered, batch.baseOffset() - 1);
        }
        if (batch.lastOffset() < covered) {
            return;
        }
        figures.log(batch.sizeInBytes());
        batch.ensureValid();
        long n = 0;
        String control = null;
        for (Record record : batch) {
            record.ensureValid();
            if (record.offset() != batch.baseOffset() + n) {
                throw new MismatchException("%s: record %d of the batch of offset %d has offset %d", log, n,
                        batch.baseOffset(), record.offset());
            }
            if (batch.isControlBatch()) {
                control = ControlRecordType.parse(record.key()).name().toLowerCase(Locale.ROOT);
            }
            n++;
        }
        if (control != null) {
            figures.control(control, n);
        } else {
            figures.data(batch, n);
        }
        covered = batch.nextOffset();
    }
}
