// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.nio.ByteBuffer;
import java.util.Random;

/** Record batches of format v2: a true header, and anything for records. */
final class Batches {
    static final int HEADER = 61;

    private Batches() {}

    static byte[] batch(long baseOffset, int records, int leaderEpoch, long maxTimestamp, byte[] payload) {
        ByteBuffer batch = ByteBuffer.allocate(HEADER + payload.length);
        batch.putLong(baseOffset).putInt(HEADER + payload.length - 12).putInt(leaderEpoch).put((byte) 2)
                .putInt(0xC0FFEE).putShort((short) 0).putInt(records - 1).putLong(maxTimestamp).putLong(maxTimestamp)
                .putLong(-1).putShort((short) -1).putInt(-1).putInt(records).put(payload);
        return batch.array();
    }

    static byte[] random(Random random, long baseOffset, int leaderEpoch, int maxPayload) {
        byte[] payload = new byte[random.nextInt(maxPayload) + 1];
        random.nextBytes(payload);
        return batch(baseOffset, random.nextInt(5) + 1, leaderEpoch, random.nextInt(1_000_000), payload);
    }
}
