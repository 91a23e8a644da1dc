// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Whole record batches of a log from some offset on, each with the checksum that it claims.
 *
 * @param bytes the batches, from position to limit
 * @param lastOffset the last batch's last offset
 * @param records how many the batches claim to hold
 */
record Batches(ByteBuffer bytes, long lastOffset, long records) {
    private static final int LENGTH = 8;
    private static final int LEADER_EPOCH = 12;
    private static final int MAGIC = 16;
    private static final int CRC = 17;
    private static final int ATTRIBUTES = 21;
    private static final int LAST_OFFSET_DELTA = 23;
    private static final int RECORD_COUNT = 57;
    /** Bytes before the part that the length field counts. */
    private static final int LOG_OVERHEAD = 12;
    private static final int HEADER = 61;
    private static final byte MAGIC_V2 = 2;

    /**
     * The batches of a section from the one with that base offset on: what a log that ends there can append.
     *
     * @param leaderEpoch no batch may be of a later one
     * @throws IllegalArgumentException saying where the section is not that
     */
    static Batches from(ByteBuffer section, long offset, int leaderEpoch) {
        long next = offset;
        long records = 0;
        int start = -1;
        int at = section.position();
        while (at < section.limit()) {
            int left = section.limit() - at;
            int size = left < HEADER ? left + 1 : LOG_OVERHEAD + section.getInt(at + LENGTH);
            require(size >= HEADER && size <= left, "the batch at byte %d is cut off", at);
            long base = section.getLong(at);
            long last = base + section.getInt(at + LAST_OFFSET_DELTA);
            if (start < 0 && last < offset) {
                at += size;
                continue;
            }
            require(base == next, "a batch begins at offset %d, not %d", base, next);
            require(section.get(at + MAGIC) == MAGIC_V2, "the batch at offset %d has another format than v2", base);
            require(section.getInt(at + LEADER_EPOCH) <= leaderEpoch, "the batch at offset %d is of a later epoch",
                    base);
            require(section.getInt(at + CRC) == checksum(section, at, size),
                    "the batch at offset %d does not match its checksum", base);
            start = start < 0 ? at : start;
            records += section.getInt(at + RECORD_COUNT);
            next = last + 1;
            at += size;
        }
        require(start >= 0, "no batch begins at offset %d", offset);
        return new Batches(section.slice(start, section.limit() - start), next - 1, records);
    }

    /** All of them in one buffer, a copy unless there is one alone. */
    static ByteBuffer joined(List<Batches> parts) {
        if (parts.size() == 1) {
            return parts.get(0).bytes();
        }
        ByteBuffer all = ByteBuffer.allocate(parts.stream().mapToInt(part -> part.bytes().remaining()).sum());
        parts.forEach(part -> all.put(part.bytes().duplicate()));
        return all.flip();
    }

    private static int checksum(ByteBuffer section, int at, int size) {
        CRC32C crc = new CRC32C();
        crc.update(section.slice(at + ATTRIBUTES, size - ATTRIBUTES));
        return (int) crc.getValue();
    }

    private static void require(boolean holds, String otherwise, Object... arguments) {
        if (!holds) {
            throw new IllegalArgumentException(String.format(otherwise, arguments));
        }
    }
}
