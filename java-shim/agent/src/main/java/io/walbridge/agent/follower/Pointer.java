// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import com.google.protobuf.ByteString;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;

/**
 * Where the WAL holds consecutive record batches of one partition.
 *
 * @param extent the frame that holds them, as the daemon named it
 * @param position of their first byte, counted from the frame's
 * @param length in bytes
 * @param baseOffset the first batch's base offset
 * @param lastOffset the last batch's last offset, inclusive
 */
record Pointer(ByteString extent, int position, int length, long baseOffset, long lastOffset) {
    /** To a segment that has been copied. */
    static Pointer to(RemoteWalLogSegmentMetadata copied) {
        long length = copied.endFilePosition() - copied.startFilePosition() + 1;
        return new Pointer(ByteString.copyFrom(copied.customMetadata().orElseThrow().value()),
                Math.toIntExact(copied.startFilePosition()), Math.toIntExact(length), copied.startOffset(),
                copied.endOffset());
    }
}
