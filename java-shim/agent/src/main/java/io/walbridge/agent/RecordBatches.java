// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Cuts bytes of a log into runs of whole record batches, each of one leader epoch. It reads the batch headers (format
 * v2: the only one that a broker of Kafka 4 writes) itself, since Kafka's own classes for it moved between 4.2 and 4.3.
 */
final class RecordBatches {
    private static final int LENGTH = 8;
    private static final int LEADER_EPOCH = 12;
    private static final int MAGIC = 16;
    private static final int LAST_OFFSET_DELTA = 23;
    private static final int MAX_TIMESTAMP = 35;
    private static final int RECORD_COUNT = 57;
    /** Bytes before the part that the length field counts. */
    private static final int LOG_OVERHEAD = 12;
    private static final int HEADER = 61;
    private static final byte MAGIC_V2 = 2;

    private RecordBatches() {}

    /**
     * Consecutive whole batches of one leader epoch.
     *
     * @param bytes the batches, from position to limit, as the log holds them
     * @param baseOffset the first batch's base offset
     * @param lastOffset the last batch's last offset, inclusive
     * @param maxTimestamp the largest record timestamp, milliseconds since 1970; -1 where there is none
     * @param records how many records the batches hold, control records among them
     */
    record Run(ByteBuffer bytes, int leaderEpoch, long baseOffset, long lastOffset, long maxTimestamp, long records) {}

    /**
     * Splits bytes where the leader epoch changes. A batch that is cut off at the end is left out; the result is
     * empty where the first one is.
     *
     * @throws CorruptBatchException where the bytes are no record batches of format v2
     */
    static List<Run> split(ByteBuffer bytes) {
        List<Run> runs = new ArrayList<>(1);
        Run open = null;
        int openAt = 0;
        int at = bytes.position();
        while (bytes.limit() - at >= HEADER) {
            int size = LOG_OVERHEAD + bytes.getInt(at + LENGTH);
            check(bytes, at, size);
            if (size > bytes.limit() - at) {
                break;
            }
            if (open != null && open.leaderEpoch() != bytes.getInt(at + LEADER_EPOCH)) {
                runs.add(open);
                open = null;
            }
            if (open == null) {
                openAt = at;
                open = batch(bytes, at, size);
            } else {
                open = append(open, bytes.slice(openAt, at + size - openAt), batch(bytes, at, size));
            }
            at += size;
        }
        if (open != null) {
            runs.add(open);
        }
        return runs;
    }

    private static Run batch(ByteBuffer bytes, int at, int size) {
        long baseOffset = bytes.getLong(at);
        return new Run(bytes.slice(at, size), bytes.getInt(at + LEADER_EPOCH), baseOffset,
                baseOffset + bytes.getInt(at + LAST_OFFSET_DELTA), bytes.getLong(at + MAX_TIMESTAMP),
                bytes.getInt(at + RECORD_COUNT));
    }

    private static Run append(Run run, ByteBuffer both, Run batch) {
        return new Run(both, run.leaderEpoch(), run.baseOffset(), batch.lastOffset(),
                Math.max(run.maxTimestamp(), batch.maxTimestamp()), run.records() + batch.records());
    }

    private static void check(ByteBuffer bytes, int at, int size) {
        long baseOffset = bytes.getLong(at);
        byte magic = bytes.get(at + MAGIC);
        if (magic != MAGIC_V2) {
            throw new CorruptBatchException("record batch at offset " + baseOffset + " has format v" + magic
                    + "; only v2 (written since Kafka 0.11) can be stored");
        }
        if (size < HEADER) {
            throw new CorruptBatchException("record batch at offset " + baseOffset + " claims " + size + " bytes");
        }
    }

    /** The log holds something that cannot go to the WAL. */
    static final class CorruptBatchException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        CorruptBatchException(String message) {
            super(message);
        }
    }
}
