// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;

import java.time.Duration;
import java.util.NavigableMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The upload of one led partition in one leader epoch: how far it has been read, and how far it is stored. At most one
 * reader works on it at a time, and only after a combiner has taken what was read before: what a busy partition appends
 * meanwhile waits in its log, not in memory, and then goes as one section.
 */
final class WalPartition {
    private final LedPartition led;
    private final NavigableMap<Integer, Long> lineage;
    private final Growth growth;
    private final Runnable onAppend = this::grew;
    private final WalEnd walEnd;
    private final StoredEnd begun;
    /** The reader, until it returns, and the sections that no combiner has taken yet. */
    private final AtomicInteger pending = new AtomicInteger();
    private volatile long next;
    /** Nothing below it is read any more. */
    private long skippedTo = -1;
    private volatile long restUntilNanos = System.nanoTime();
    private volatile boolean grown;
    private volatile boolean ended;
    private volatile RemoteWalLogSegmentMetadata lastStored;

    /**
     * @param lineage the log's leader epochs up to the current one; they stay as they are while the epoch lasts
     * @param start where the upload begins
     * @param begun what start was found from; null where that is the log start
     */
    WalPartition(LedPartition led, NavigableMap<Integer, Long> lineage, Growth growth, long start, StoredEnd begun) {
        this.led = led;
        this.lineage = lineage;
        this.growth = growth;
        this.walEnd = new WalEnd(start);
        this.begun = begun;
        this.next = start;
    }

    LedPartition led() {
        return led;
    }

    NavigableMap<Integer, Long> lineage() {
        return lineage;
    }

    long walStart() {
        return walEnd.start();
    }

    long walEnd() {
        return walEnd.get();
    }

    /** How far the partition is stored, to go on from there in another epoch; null where nothing is. */
    StoredEnd storedEnd() {
        RemoteWalLogSegmentMetadata section = lastStored;
        return section == null ? begun : new StoredEnd(section, walEnd.get());
    }

    /** The next offset to read. */
    long next() {
        return next;
    }

    /** How many offsets of the log are not known to be stored. */
    long lag() {
        long end = led.logEndOffset();
        return Math.max(0, end - Math.max(walEnd.get(), Math.min(end, led.logStartOffset())));
    }

    void begin() {
        led.onAppend(onAppend);
        grew();
    }

    /** The partition is led no more, or in another epoch. What is under way ends by itself. */
    void end() {
        ended = true;
        led.removeOnAppend(onAppend);
    }

    /** There is more to read. Called after every append, so it is cheap where that is known already. */
    void grew() {
        if (!grown) {
            grown = true;
            growth.add(this);
        }
    }

    /** Whoever looks for something to read calls this first, so that no append after it goes unnoticed. */
    void growthSeen() {
        grown = false;
    }

    boolean hasUnread() {
        return !ended && next < led.logEndOffset();
    }

    /** Whether nobody is reading, nothing waits for a combiner, and the partition is not at rest. */
    boolean readable(long nowNanos) {
        return pending.get() == 0 && nowNanos - restUntilNanos >= 0;
    }

    void readerSubmitted() {
        pending.incrementAndGet();
    }

    void readerReturned() {
        pending.decrementAndGet();
    }

    /** A section has been read; its reader is going to queue it. */
    void sectionRead(WalSection section) {
        pending.incrementAndGet();
        advance(section.from(), section.to());
    }

    void sectionTaken() {
        pending.decrementAndGet();
    }

    /** The log now starts at offset. Returns how many offsets below it are gone before they were read for the WAL. */
    synchronized long logStart(long offset) {
        long lost = Math.max(0, offset - next);
        walEnd.logStart(offset);
        next += lost;
        return lost;
    }

    /**
     * Reads nothing below offset any more, the log's end a moment ago; the WAL's range begins there. Returns how many
     * offsets are left out.
     */
    synchronized long skipTo(long offset) {
        long skipped = Math.max(0, offset - next);
        if (skipped > 0) {
            next = offset;
            skippedTo = offset;
            walEnd.restart(offset);
        }
        return skipped;
    }

    /** A quorum holds the section. It counts only while the leader epoch lasts: then the log still holds it, too. */
    void stored(WalSection section, RemoteWalLogSegmentMetadata metadata) {
        if (led.stillLed()) {
            walEnd.stored(section.from(), section.to());
            if (section.to() <= walEnd.get()) {
                lastStored = metadata;
            }
        }
    }

    /**
     * The section was not stored and is dropped: after the rest it is read again from the log, unless the partition has
     * skipped it since. Returns how many of its offsets are left out.
     */
    synchronized long givenUp(WalSection section, Duration rest) {
        long again = Math.max(section.from(), skippedTo);
        if (again < section.to()) {
            next = Math.min(next, again);
            rest(rest);
            grew();
        }
        return Math.min(again, section.to()) - section.from();
    }

    /** Leaves the partition alone for a while. */
    void rest(Duration rest) {
        restUntilNanos = System.nanoTime() + rest.toNanos();
    }

    /** Does nothing where a section below has been given up since this one was read. */
    private synchronized void advance(long from, long to) {
        if (next == from) {
            next = to;
        }
    }

    @Override
    public String toString() {
        return led.toString();
    }
}
