package io.walbridge.shim;

import com.google.protobuf.ByteString;
import io.walbridge.proto.frame.v1.Entry;
import io.walbridge.proto.frame.v1.EpochStart;
import io.walbridge.proto.v1.CopyLogSegmentDataResponse;
import io.walbridge.proto.v1.EntryLocation;
import io.walbridge.proto.v1.EntryRange;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentId;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentState;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadata.RemoteLogSegmentMetadataEntry;
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadataUpdate;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The KIP's metadata as the service's messages, and back. */
final class Translation {

    /** The longest extent there is, see docs/format.md. */
    private static final int MAX_EXTENT = 64;

    private Translation() {
    }

    /** An entry of which only the id is known. It cannot be restored. */
    static Entry entry(RemoteLogSegmentId id, int length) {
        return identified(id, length).build();
    }

    /** An entry with all that a restore needs. */
    static Entry entry(RemoteWalLogSegmentMetadata segment, int length) {
        Entry.Builder entry = identified(segment.remoteLogSegmentId(), length)
                .setRestorable(true)
                .setBrokerEpoch(segment.brokerEpoch())
                .setLeaderEpoch(segment.leaderEpoch())
                .setBaseOffset(segment.startOffset())
                .setLastOffset(segment.endOffset())
                .setMaxTimestampMs(segment.maxTimestampMs())
                .setLogStartOffset(segment.logStartOffset())
                .setLogDirId(bytes(segment.logDirId()))
                .setSegmentBytes(segment.segmentBytes());
        segment.segmentLeaderEpochs().forEach((epoch, startOffset) ->
                entry.addLineage(EpochStart.newBuilder().setEpoch(epoch).setStartOffset(startOffset)));
        return entry.build();
    }

    /** The range of a copied segment that KIP-1176's positions name. */
    static EntryRange range(RemoteWalLogSegmentMetadata segment, int startPosition, int endPosition)
            throws RemoteStorageException {
        TopicIdPartition partition = segment.topicIdPartition();
        long start = segment.startFilePosition();
        long length = segment.endFilePosition() - start + 1;
        if (segment.customMetadata().isEmpty() || start < 0 || length <= 0) {
            throw new RemoteStorageException("fetch of " + segment.remoteLogSegmentId() + ": it has not been copied");
        }
        return EntryRange.newBuilder()
                .setEntry(EntryLocation.newBuilder()
                        .setPosition(unsigned(start, segment))
                        .setLength(unsigned(length, segment)))
                .setTopicId(bytes(partition.topicId()))
                .setPartition(partition.partition())
                .setStartPosition(startPosition)
                .setEndPosition(endPosition)
                .build();
    }

    /** What a copy returned, in the KIP's terms: the extent is the custom metadata. */
    static RemoteWalCombinedLogSegmentMetadataUpdate update(RemoteWalCombinedLogSegmentMetadata copied,
                                                            List<Entry> entries,
                                                            CopyLogSegmentDataResponse response,
                                                            long eventTimestampMs) throws RemoteStorageException {
        String what = "copy of " + copied.combinedSegmentId();
        int extent = response.getExtent().size();
        if (!response.getCombinedSegmentId().equals(bytes(copied.combinedSegmentId()))
                || response.getEntriesCount() != entries.size() || extent == 0 || extent > MAX_EXTENT) {
            throw new RemoteStorageException(what + ": the daemon answered for " + response.getEntriesCount()
                    + " entries of another copy, with an extent of " + extent + " bytes");
        }
        List<RemoteLogSegmentMetadataEntry> places = new ArrayList<>(entries.size());
        for (int i = 0; i < entries.size(); i++) {
            EntryLocation place = response.getEntries(i);
            if (place.getLength() != entries.get(i).getLength()) {
                throw new RemoteStorageException(what + ": the daemon stored "
                        + Integer.toUnsignedLong(place.getLength()) + " bytes of section " + i + ", not "
                        + entries.get(i).getLength());
            }
            long start = Integer.toUnsignedLong(place.getPosition());
            places.add(new RemoteLogSegmentMetadataEntry(
                    copied.remoteLogSegmentMetadataEntries().get(i).remoteLogSegmentId(),
                    start, start + place.getLength() - 1));
        }
        return new RemoteWalCombinedLogSegmentMetadataUpdate(copied.combinedSegmentId(), places,
                Optional.of(new CustomMetadata(response.getExtent().toByteArray())),
                RemoteLogSegmentState.COPY_SEGMENT_FINISHED, copied.brokerId(), eventTimestampMs);
    }

    /** An id as the service's messages have it: 16 bytes, big-endian. */
    static ByteString bytes(Uuid id) {
        return ByteString.copyFrom(ByteBuffer.allocate(2 * Long.BYTES)
                .putLong(id.getMostSignificantBits())
                .putLong(id.getLeastSignificantBits())
                .flip());
    }

    /** The id in {@code bytes}, or Uuid.ZERO_UUID if there is none. */
    static Uuid uuid(ByteString bytes) {
        if (bytes.size() != 2 * Long.BYTES) {
            return Uuid.ZERO_UUID;
        }
        ByteBuffer buffer = bytes.asReadOnlyByteBuffer();
        return new Uuid(buffer.getLong(), buffer.getLong());
    }

    private static Entry.Builder identified(RemoteLogSegmentId id, int length) {
        TopicIdPartition partition = id.topicIdPartition();
        return Entry.newBuilder()
                .setTopicId(bytes(partition.topicId()))
                .setTopic(partition.topic())
                .setPartition(partition.partition())
                .setSegmentId(bytes(id.id()))
                .setLength(length);
    }

    private static int unsigned(long value, RemoteWalLogSegmentMetadata segment) throws RemoteStorageException {
        if (value > 0xffff_ffffL) {
            throw new RemoteStorageException("fetch of " + segment.remoteLogSegmentId() + ": no frame has " + value
                    + " bytes");
        }
        return (int) value;
    }
}
