// SPDX-License-Identifier: Apache-2.0
package io.walbridge.verify;

import io.walbridge.proto.frame.v1.Entry;
import io.walbridge.proto.frame.v1.EpochStart;
import io.walbridge.proto.v1.ListCombinedSegmentsRequest;
import io.walbridge.proto.v1.ListCombinedSegmentsResponse;
import io.walbridge.shim.WalClient;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentId;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentState;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** What the daemon lists: every stored entry, as the KIP's metadata, by partition. */
final class Listing {
    private final Set<String> objects = new HashSet<>();
    private final Map<TopicPartition, List<RemoteWalLogSegmentMetadata>> entries = new HashMap<>();

    /** Lists what the broker stored, within {@code timeout}. */
    static Listing of(WalClient client, int brokerId, Duration timeout) throws RemoteStorageException {
        Listing listing = new Listing();
        client.list(ListCombinedSegmentsRequest.newBuilder().setBrokerId(brokerId).build(), timeout, listing::add);
        return listing;
    }

    int objects() {
        return objects.size();
    }

    Set<TopicPartition> partitions() {
        return entries.keySet();
    }

    List<RemoteWalLogSegmentMetadata> entries(TopicPartition partition) {
        return entries.getOrDefault(partition, List.of());
    }

    private void add(ListCombinedSegmentsResponse frame) {
        // A problem is not an error here: an append that was cut off was not acknowledged, and offsets that are missing
        // are found when the log is compared.
        if (!frame.hasIndex()) {
            return;
        }
        objects.add(frame.getObject());
        for (Entry entry : frame.getIndex().getEntriesList()) {
            entries.computeIfAbsent(new TopicPartition(entry.getTopic(), entry.getPartition()), p -> new ArrayList<>())
                    .add(metadata(frame, entry));
        }
    }

    private static RemoteWalLogSegmentMetadata metadata(ListCombinedSegmentsResponse frame, Entry entry) {
        TopicIdPartition partition = new TopicIdPartition(uuid(entry.getTopicId().asReadOnlyByteBuffer()),
                entry.getPartition(), entry.getTopic());
        long position = Integer.toUnsignedLong(entry.getPosition());
        return new RemoteWalLogSegmentMetadata(
                new RemoteLogSegmentId(partition, uuid(entry.getSegmentId().asReadOnlyByteBuffer())),
                entry.getBaseOffset(), entry.getLastOffset(), entry.getMaxTimestampMs(),
                frame.getIndex().getBrokerId(), entry.getBrokerEpoch(), 0, entry.getLeaderEpoch(),
                entry.getLineageList().stream()
                        .collect(Collectors.toMap(EpochStart::getEpoch, EpochStart::getStartOffset)),
                entry.getLogStartOffset(), uuid(entry.getLogDirId().asReadOnlyByteBuffer()), entry.getSegmentBytes(),
                Optional.of(new CustomMetadata(frame.getExtent().toByteArray())),
                RemoteLogSegmentState.COPY_SEGMENT_FINISHED, Optional.empty(),
                position, position + Integer.toUnsignedLong(entry.getLength()) - 1);
    }

    private static Uuid uuid(ByteBuffer bytes) {
        return new Uuid(bytes.getLong(), bytes.getLong());
    }
}
