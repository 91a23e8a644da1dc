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

/**
 * Checks all stored entries of one partition against the broker's log: every batch is the log's, byte for byte, and is
 * valid for Kafka down to each record; together the batches leave no offset of the log out. Batches of a deposed leader
 * beyond its epoch's end in the log are legal and not compared.
 */
final class PartitionCheck {
    private final BrokerLog log;
    private final EntryReader reader;
    private final Figures figures = new Figures();
    /** The first offset that no entry so far holds. */
    private long covered;

    PartitionCheck(BrokerLog log, EntryReader reader) {
        this.log = log;
        this.reader = reader;
        covered = log.start();
    }

    Figures run(List<RemoteWalLogSegmentMetadata> entries)
            throws MismatchException, IOException, RemoteStorageException {
        List<RemoteWalLogSegmentMetadata> sorted = entries.stream()
                .sorted(Comparator.comparingLong(RemoteWalLogSegmentMetadata::startOffset)
                        .thenComparingInt(RemoteWalLogSegmentMetadata::leaderEpoch))
                .toList();
        for (RemoteWalLogSegmentMetadata entry : sorted) {
            checkIndex(entry);
            check(entry, reader.read(entry));
        }
        if (covered != log.end()) {
            throw new MismatchException("%s: stored up to offset %d, but the log ends at %d", log, covered, log.end());
        }
        figures.partition();
        return figures;
    }

    /** What the index says is what the broker's files say. */
    private void checkIndex(RemoteWalLogSegmentMetadata entry) throws MismatchException {
        if (!entry.topicIdPartition().topicId().equals(log.topicId())) {
            throw new MismatchException("%s: an entry has topic id %s, but the log has %s", log,
                    entry.topicIdPartition().topicId(), log.topicId());
        }
        int epoch = entry.leaderEpoch();
        Long stored = entry.segmentLeaderEpochs().get(epoch);
        Long own = log.epochs().get(epoch);
        // Kafka moves an epoch's start when the log start passes it.
        if (own != null && own > log.start() && !own.equals(stored)) {
            throw new MismatchException("%s: an entry says that leader epoch %d starts at %s, but the log says %d", log,
                    epoch, stored, own);
        }
    }

    private void check(RemoteWalLogSegmentMetadata entry, byte[] stored) throws MismatchException, IOException {
        MemoryRecords records = MemoryRecords.readableRecords(ByteBuffer.wrap(stored));
        long next = entry.startOffset();
        for (MutableRecordBatch batch : records.batches()) {
            if (batch.baseOffset() != next || batch.partitionLeaderEpoch() != entry.leaderEpoch()) {
                throw new MismatchException("%s: entry %d-%d of leader epoch %d has a batch of offset %d, epoch %d",
                        log, entry.startOffset(), entry.endOffset(), entry.leaderEpoch(), batch.baseOffset(),
                        batch.partitionLeaderEpoch());
            }
            next = batch.nextOffset();
            if (next <= log.endOf(entry.leaderEpoch())) {
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
        if (batch.baseOffset() < covered) {
            return;
        }
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
