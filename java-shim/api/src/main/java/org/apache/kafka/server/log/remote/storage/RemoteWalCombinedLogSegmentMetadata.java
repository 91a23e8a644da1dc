/*
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
 * the License. You may obtain a copy of the License at
 *
 *    http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
 * an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
 * specific language governing permissions and limitations under the License.
 */
package org.apache.kafka.server.log.remote.storage;

import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * It describes the metadata about a combined log segment in the remote storage: sections of the active log segments of
 * many topic partitions, stored as one object. Immutable.
 */
public class RemoteWalCombinedLogSegmentMetadata extends RemoteLogMetadata {

    /**
     * Universally unique remote log segment id.
     */
    private final Uuid combinedSegmentId;

    private final List<RemoteLogSegmentMetadataEntry> remoteLogSegmentMetadataEntries;

    /**
     * Custom metadata.
     */
    private final Optional<CustomMetadata> customMetadata;

    /**
     * It indicates the state in which the action is executed on this segment.
     */
    private final RemoteLogSegmentState state;

    /**
     * Creates an instance with the given metadata of a combined log segment.
     *
     * @param combinedSegmentId               Universally unique id of the combined log segment.
     * @param remoteLogSegmentMetadataEntries Entry for each log segment, at least one.
     * @param customMetadata                  Custom metadata, as the storage returned it.
     * @param state                           State of the combined log segment.
     * @param brokerId                        Broker id from which this event is generated.
     * @param eventTimestampMs                Epoch time in milli seconds since which the combined log segment waits to
     *                                        be copied to the remote storage.
     */
    public RemoteWalCombinedLogSegmentMetadata(Uuid combinedSegmentId,
                                               List<RemoteLogSegmentMetadataEntry> remoteLogSegmentMetadataEntries,
                                               Optional<CustomMetadata> customMetadata,
                                               RemoteLogSegmentState state,
                                               int brokerId,
                                               long eventTimestampMs) {
        super(brokerId, eventTimestampMs);
        this.combinedSegmentId = Objects.requireNonNull(combinedSegmentId, "combinedSegmentId can not be null");
        this.remoteLogSegmentMetadataEntries = List.copyOf(remoteLogSegmentMetadataEntries);
        if (this.remoteLogSegmentMetadataEntries.isEmpty()) {
            throw new IllegalArgumentException("remoteLogSegmentMetadataEntries can not be empty");
        }
        this.customMetadata = Objects.requireNonNull(customMetadata, "customMetadata can not be null");
        this.state = Objects.requireNonNull(state, "state can not be null");
    }

    /**
     * Creates an instance with the given metadata of a combined log segment and its state as
     * {@link RemoteLogSegmentState#COPY_SEGMENT_STARTED}.
     *
     * @param combinedSegmentId               Universally unique id of the combined log segment.
     * @param remoteLogSegmentMetadataEntries Entry for each log segment, at least one.
     * @param brokerId                        Broker id from which this event is generated.
     * @param eventTimestampMs                Epoch time in milli seconds since which the combined log segment waits to
     *                                        be copied to the remote storage.
     */
    public RemoteWalCombinedLogSegmentMetadata(Uuid combinedSegmentId,
                                               List<RemoteLogSegmentMetadataEntry> remoteLogSegmentMetadataEntries,
                                               int brokerId,
                                               long eventTimestampMs) {
        this(combinedSegmentId, remoteLogSegmentMetadataEntries, Optional.empty(),
                RemoteLogSegmentState.COPY_SEGMENT_STARTED, brokerId, eventTimestampMs);
    }

    /**
     * @return unique id of this combined log segment.
     */
    public Uuid combinedSegmentId() {
        return combinedSegmentId;
    }

    /**
     * @return the entry of each log segment, in the order of the segments; unmodifiable and not empty.
     */
    public List<RemoteLogSegmentMetadataEntry> remoteLogSegmentMetadataEntries() {
        return remoteLogSegmentMetadataEntries;
    }

    /**
     * @return Custom metadata.
     */
    public Optional<CustomMetadata> customMetadata() {
        return customMetadata;
    }

    /**
     * Returns the current state of this combined log segment. It can be any of the below
     * <ul>
     *     {@link RemoteLogSegmentState#COPY_SEGMENT_STARTED}
     *     {@link RemoteLogSegmentState#COPY_SEGMENT_FINISHED}
     *     {@link RemoteLogSegmentState#DELETE_SEGMENT_STARTED}
     *     {@link RemoteLogSegmentState#DELETE_SEGMENT_FINISHED}
     * </ul>
     */
    public RemoteLogSegmentState state() {
        return state;
    }

    /**
     * A combined log segment belongs to many partitions. This is the first entry's: the one that, where a record of
     * this metadata must be kept with a single partition, is that partition.
     */
    @Override
    public TopicIdPartition topicIdPartition() {
        return remoteLogSegmentMetadataEntries.get(0).remoteLogSegmentId().topicIdPartition();
    }

    /**
     * Creates a new RemoteWalCombinedLogSegmentMetadata applying the given {@code rwclsmUpdate} on this instance. This
     * method will not update this instance.
     *
     * @param rwclsmUpdate update to be applied.
     * @return a new instance created by applying the given update on this instance.
     */
    public RemoteWalCombinedLogSegmentMetadata createWithUpdates(
            RemoteWalCombinedLogSegmentMetadataUpdate rwclsmUpdate) {
        if (!combinedSegmentId.equals(rwclsmUpdate.combinedSegmentId())) {
            throw new IllegalArgumentException("Given rwclsmUpdate does not have this instance's combinedSegmentId.");
        }
        return new RemoteWalCombinedLogSegmentMetadata(combinedSegmentId,
                rwclsmUpdate.remoteLogSegmentMetadataEntries(), rwclsmUpdate.customMetadata(), rwclsmUpdate.state(),
                rwclsmUpdate.brokerId(), rwclsmUpdate.eventTimestampMs());
    }

    @Override
    public boolean equals(Object o) {
        if (this == o) {
            return true;
        }
        if (o == null || getClass() != o.getClass()) {
            return false;
        }
        RemoteWalCombinedLogSegmentMetadata that = (RemoteWalCombinedLogSegmentMetadata) o;
        return combinedSegmentId.equals(that.combinedSegmentId)
                && remoteLogSegmentMetadataEntries.equals(that.remoteLogSegmentMetadataEntries)
                && customMetadata.equals(that.customMetadata)
                && state == that.state
                && eventTimestampMs() == that.eventTimestampMs()
                && brokerId() == that.brokerId();
    }

    @Override
    public int hashCode() {
        return Objects.hash(combinedSegmentId, remoteLogSegmentMetadataEntries, customMetadata, state,
                eventTimestampMs(), brokerId());
    }

    @Override
    public String toString() {
        return "RemoteWalCombinedLogSegmentMetadata{" +
                "combinedSegmentId=" + combinedSegmentId +
                ", remoteLogSegmentMetadataEntries=" + remoteLogSegmentMetadataEntries +
                ", customMetadata=" + customMetadata +
                ", state=" + state +
                ", brokerId=" + brokerId() +
                ", eventTimestampMs=" + eventTimestampMs() +
                '}';
    }

    /**
     * Metadata entry for each log segment. Positions are in bytes and both inclusive, so that a segment's length is
     * {@code endFilePosition - startFilePosition + 1}; both are -1 until the segment is copied. Immutable.
     */
    public static class RemoteLogSegmentMetadataEntry {

        private final RemoteLogSegmentId remoteLogSegmentId;
        private final long startFilePosition; // start position in the file for this segment
        private final long endFilePosition;   // end position in the file for this segment

        /**
         * Creates an instance with the given place of a log segment.
         *
         * @param remoteLogSegmentId Universally unique remote log segment id.
         * @param startFilePosition  Position of the segment's first byte in the combined segment, or -1.
         * @param endFilePosition    Position of the segment's last byte in the combined segment, or -1.
         */
        public RemoteLogSegmentMetadataEntry(RemoteLogSegmentId remoteLogSegmentId,
                                             long startFilePosition,
                                             long endFilePosition) {
            this.remoteLogSegmentId = Objects.requireNonNull(remoteLogSegmentId, "remoteLogSegmentId can not be null");
            this.startFilePosition = startFilePosition;
            this.endFilePosition = endFilePosition;
        }

        /**
         * @return unique id of this entry's log segment.
         */
        public RemoteLogSegmentId remoteLogSegmentId() {
            return remoteLogSegmentId;
        }

        /**
         * @return position of the segment's first byte in the combined segment, or -1.
         */
        public long startFilePosition() {
            return startFilePosition;
        }

        /**
         * @return position of the segment's last byte in the combined segment, inclusive, or -1.
         */
        public long endFilePosition() {
            return endFilePosition;
        }

        @Override
        public boolean equals(Object o) {
            if (this == o) {
                return true;
            }
            if (o == null || getClass() != o.getClass()) {
                return false;
            }
            RemoteLogSegmentMetadataEntry that = (RemoteLogSegmentMetadataEntry) o;
            return startFilePosition == that.startFilePosition
                    && endFilePosition == that.endFilePosition
                    && remoteLogSegmentId.equals(that.remoteLogSegmentId);
        }

        @Override
        public int hashCode() {
            return Objects.hash(remoteLogSegmentId, startFilePosition, endFilePosition);
        }

        @Override
        public String toString() {
            return "RemoteLogSegmentMetadataEntry{" +
                    "remoteLogSegmentId=" + remoteLogSegmentId +
                    ", startFilePosition=" + startFilePosition +
                    ", endFilePosition=" + endFilePosition +
                    '}';
        }
    }
}
