// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.errors.OffsetOutOfRangeException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;

/**
 * KIP-1176's RLMWalTask: reads what one partition has appended and queues it for the combiner tasks. It runs whenever
 * there is something to read, on a thread that must never be interrupted: an interrupt during a read closes the
 * segment's file channel under the broker.
 */
final class RLMWalTask implements Runnable {
    /** Bytes that one run reads: small enough that a partition far behind does not hold up the others. */
    static final int READ_BYTES = 1024 * 1024;
    private static final Duration REST_AFTER_ERROR = Duration.ofSeconds(1);

    private static final Logger LOG = LoggerFactory.getLogger(RLMWalTask.class);

    private final WalPartition partition;
    private final BlockingQueue<WalSection> queue;
    private final Buffered buffered;
    private final CopyMetrics metrics;
    private final LogThrottle throttle;

    RLMWalTask(WalPartition partition, BlockingQueue<WalSection> queue, Buffered buffered, CopyMetrics metrics,
               LogThrottle throttle) {
        this.partition = partition;
        this.queue = queue;
        this.buffered = buffered;
        this.metrics = metrics;
        this.throttle = throttle;
    }

    @Override
    public void run() {
        try {
            readAndQueue();
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

    private void readAndQueue() throws IOException {
        LedPartition led = partition.led();
        long lost = partition.logStart(led.logStartOffset());
        metrics.skipped(lost, 0);
        if (lost > 0 && throttle.allows(partition.led().id())) {
            LOG.warn("{} records of {} were deleted from the log, up to offset {}, before they were in the WAL", lost,
                    partition, led.logStartOffset());
        }
        if (!buffered.tryReserve(READ_BYTES)) {
            return;
        }
        long held = READ_BYTES;
        try {
            long from = partition.next();
            ByteBuffer bytes = led.read(from, READ_BYTES);
            List<RecordBatches.Run> runs = RecordBatches.split(bytes);
            if (!led.stillLed()) {
                return; // The log may have been truncated under the read.
            }
            if (runs.isEmpty() && bytes.hasRemaining()) {
                throw new IOException("the record batch at offset " + from + " is cut off");
            }
            buffered.adjust(bytes.capacity() - held);
            held = bytes.capacity();
            for (int i = 0; i < runs.size(); i++) {
                RecordBatches.Run run = runs.get(i);
                long share = i == runs.size() - 1 ? held : run.bytes().remaining();
                WalSection section = new WalSection(partition, from, run, share);
                partition.sectionRead(section);
                if (!queue.offer(section)) {
                    partition.sectionTaken();
                    partition.givenUp(section, Duration.ZERO);
                    return;
                }
                held -= share;
                from = section.to();
            }
        } finally {
            buffered.release(held);
        }
    }
}
