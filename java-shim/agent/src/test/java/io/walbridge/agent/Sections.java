// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentId;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentState;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;

import java.util.NavigableMap;
import java.util.Optional;

/** Makes the metadata of sections that were stored. */
final class Sections {
    private Sections() {}

    static RemoteWalLogSegmentMetadata stored(TopicIdPartition id, NavigableMap<Integer, Long> lineage, long base,
                                              long last) {
        return new RemoteWalLogSegmentMetadata(new RemoteLogSegmentId(id, Uuid.randomUuid()), base, last, 1, 1, 5, 77,
                lineage.lastKey(), lineage, 0, Uuid.randomUuid(), 1 << 20,
                Optional.of(new CustomMetadata(new byte[48])), RemoteLogSegmentState.COPY_SEGMENT_FINISHED,
                Optional.of(Uuid.randomUuid()), 100, 199);
    }
}
