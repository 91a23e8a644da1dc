// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.errors.OffsetOutOfRangeException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * KIP-1176's RLMWalTask, for many partitions: finds where in their files what they have appended is, or reads it, and
 * queues that for the combiner tasks. It runs whenever there is something to read, on a thread that must never be
 * interrupted: an interrupt during a read closes the segment's file channel under the broker.
 */
final class RLMWalTask implements Runnable {
    /** Bytes that are read of a partition at a time, and about those that are queued together. */
    static final int READ_BYTES = 1024 * 1024;
    private static final Duration REST_AFTER_ERROR = Duration.ofSeconds(1);

    private static final Logger LOG = LoggerFactory.getLogger(RLMWalTask.class);

    /** Those that are still to be dealt with. */
    private final List<WalPartition> partitions;
    private final long since;
    private final SectionQueue queue;
    private final Buffered buffered;
    private final CopyMetrics metrics;
    private final LogThrottle throttle;
    /** What is read and not queued yet, and its bytes. */
    private final List<WalSection> sections = new ArrayList<>();
    private long bytes;

    /** @param since when the first of the partitions grew, in milliseconds since 1970 */
    RLMWalTask(List<WalPartition> partitions, long since, SectionQueue queue, Buffered buffered, CopyMetrics metrics,
               LogThrottle throttle) {
        partitions.forEach(WalPartition::readerSubmitted);
        this.partitions = new ArrayList<>(partitions);
        this.since = since;
        this.queue = queue;
        this.buffered = buffered;
        this.metrics = metrics;
        this.throttle = throttle;
    }

    /**
     * Queues what is found in files, which takes no reading and so no thread of its own. Returns whether that was all:
     * else the task has still to be run, or dropped.
     */
    boolean find() {
        partitions.removeIf(this::found);
        queue();
        return partitions.isEmpty();
    }

    private boolean found(WalPartition partition) {
        try {
            LedPartition led = partition.led();
            followLogStart(partition);
            LedPartition.Appended inFile = led.appended(partition.next(), READ_BYTES);
            if (inFile == null) {
                return false;
            }
            if (led.stillLed()) {
                add(WalSection.of(partition, partition.next(), inFile, since));
            }
        } catch (RuntimeException | Error e) {
            LOG.debug("Cannot tell where {} has grown", partition, e); // Reading it will say why.
            return false;
        }
        partition.readerReturned();
        return true;
    }

    /** Leaves the partitions to another task. */
    void drop() {
        partitions.forEach(WalPartition::readerReturned);
        partitions.clear();
    }

    @Override
    public void run() {
        Iterator<WalPartition> left = partitions.iterator();
        try {
            while (left.hasNext()) {
                read(left.next());
                if (bytes >= READ_BYTES) {
                    queue();
                }
            }
        } finally {
            left.forEachRemaining(WalPartition::readerReturned);
            queue();
        }
    }

    private void read(WalPartition partition) {
        try {
            readSections(partition);
        } catch (OffsetOutOfRangeException e) {
            // Retention or truncation moved the log under the read; the next one begins at the new log start.
            LOG.debug("{} is not in the log of {} any more", partition.next(), partition, e);
        } catch (IOException | RuntimeException | Error e) {
            partition.rest(REST_AFTER_ERROR);
            if (throttle.allows(partition.led().id())) {
                LOG.warn("Cannot read {} from offset {} for the WAL; trying again", partition, partition.next(), e);
            }
        } finally {
            partition.readerReturned();
        }
    }

    private void readSections(WalPartition partition) throws IOException {
        LedPartition led = partition.led();
        followLogStart(partition);
        if (!buffered.tryReserve(READ_BYTES)) {
            return;
        }
        long held = READ_BYTES;
        try {
            long from = partition.next();
            ByteBuffer read = led.read(from, READ_BYTES);
            List<RecordBatches.Run> runs = RecordBatches.split(read);
            if (!led.stillLed()) {
                return; // The log may have been truncated under the read.
            }
            if (runs.isEmpty() && read.hasRemaining()) {
                throw new IOException("the record batch at offset " + from + " is cut off");
            }
            buffered.adjust(read.capacity() - held);
            held = read.capacity();
            for (int i = 0; i < runs.size(); i++) {
                RecordBatches.Run run = runs.get(i);
                long share = i == runs.size() - 1 ? held : run.bytes().remaining();
                WalSection section = new WalSection(partition, from, run, null, share, since);
                add(section);
                held -= share;
                from = section.to();
            }
        } finally {
            buffered.release(held);
        }
    }

    private void followLogStart(WalPartition partition) {
        LedPartition led = partition.led();
        long lost = partition.logStart(led.logStartOffset());
        metrics.skipped(lost, 0);
        if (lost > 0 && throttle.allows(led.id())) {
            LOG.warn("{} records of {} were deleted from the log, up to offset {}, before they were in the WAL", lost,
                    partition, led.logStartOffset());
        }
    }

    private void add(WalSection section) {
        sections.add(section);
        bytes += section.sizeInBytes();
        section.partition().sectionRead(section);
    }

    /** Queues what has been read. What finds no room is read again later. */
    private void queue() {
        int queued = queue.offer(sections);
        for (WalSection section : sections.subList(queued, sections.size())) {
            section.partition().sectionTaken();
            section.partition().givenUp(section, Duration.ZERO);
            buffered.release(section.reserved());
        }
        sections.clear();
        bytes = 0;
    }
}
