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

import java.util.Objects;
import java.util.Optional;

/**
 * It describes the metadata update about a section of an active log segment in the remote storage: where in which
 * combined log segment it has been stored. Immutable.
 */
public class RemoteWalLogSegmentMetadataUpdate extends RemoteLogMetadata {

    /**
     * Universally unique remote log segment id.
     */
    private final RemoteLogSegmentId remoteLogSegmentId;

    /**
     * Custom metadata.
     */
    private final Optional<CustomMetadata> customMetadata;

    /**
     * It indicates the state in which the action is executed on this segment.
     */
    private final RemoteLogSegmentState state;

    /**
     * Universally unique id of the combined log segment.
     */
    private final Uuid combinedSegmentId;

    private final TopicIdPartition combinedCoordinatorTopicPartition;

    private final long startFilePosition;

    private final long endFilePosition;

    /**
     * Creates an instance with the given update of a log segment.
     *
     * @param remoteLogSegmentId                Universally unique remote log segment id.
     * @param eventTimestampMs                  Epoch time in milli seconds at which the log segment is copied to the
     *                                          remote storage.
     * @param customMetadata                    Custom metadata of the combined log segment.
     * @param state                             State of the remote log segment.
     * @param brokerId                          Broker id from which this event is generated.
     * @param combinedSegmentId                 Universally unique id of the combined log segment.
     * @param combinedCoordinatorTopicPartition Partition with which the combined log segment's metadata is kept, see
     *                                          {@link RemoteWalCombinedLogSegmentMetadata#topicIdPartition()}.
     * @param startFilePosition                 Position of the segment's first byte in the combined segment.
     * @param endFilePosition                   Position of the segment's last byte in the combined segment, inclusive.
     */
    public RemoteWalLogSegmentMetadataUpdate(RemoteLogSegmentId remoteLogSegmentId,
                                             long eventTimestampMs,
                                             Optional<CustomMetadata> customMetadata,
                                             RemoteLogSegmentState state,
                                             int brokerId,
                                             Uuid combinedSegmentId,
                                             TopicIdPartition combinedCoordinatorTopicPartition,
                                             long startFilePosition,
                                             long endFilePosition) {
        super(brokerId, eventTimestampMs);
        this.remoteLogSegmentId = Objects.requireNonNull(remoteLogSegmentId, "remoteLogSegmentId can not be null");
        this.customMetadata = Objects.requireNonNull(customMetadata, "customMetadata can not be null");
        this.state = Objects.requireNonNull(state, "state can not be null");
        this.combinedSegmentId = Objects.requireNonNull(combinedSegmentId, "combinedSegmentId can not be null");
        this.combinedCoordinatorTopicPartition = Objects.requireNonNull(combinedCoordinatorTopicPartition,
                "combinedCoordinatorTopicPartition can not be null");
        this.startFilePosition = startFilePosition;
        this.endFilePosition = endFilePosition;
    }

    /**
     * @return unique id of the log segment.
     */
    public RemoteLogSegmentId remoteLogSegmentId() {
        return remoteLogSegmentId;
    }

    /**
     * @return Custom metadata of the combined log segment.
     */
    public Optional<CustomMetadata> customMetadata() {
        return customMetadata;
    }

    /**
     * @return the state of the log segment.
     */
    public RemoteLogSegmentState state() {
        return state;
    }

    /**
     * @return unique id of the combined log segment.
     */
    public Uuid combinedSegmentId() {
        return combinedSegmentId;
    }

    /**
     * @return the partition with which the combined log segment's metadata is kept.
     */
    public TopicIdPartition combinedCoordinatorTopicPartition() {
        return combinedCoordinatorTopicPartition;
    }

    /**
     * @return position of the segment's first byte in the combined segment.
     */
    public long startFilePosition() {
        return startFilePosition;
    }

    /**
     * @return position of the segment's last byte in the combined segment, inclusive.
     */
    public long endFilePosition() {
        return endFilePosition;
    }

    @Override
    public TopicIdPartition topicIdPartition() {
        return remoteLogSegmentId.topicIdPartition();
    }

    @Override
    public boolean equals(Object o) {
        if (this == o) {
            return true;
        }
        if (o == null || getClass() != o.getClass()) {
            return false;
        }
        RemoteWalLogSegmentMetadataUpdate that = (RemoteWalLogSegmentMetadataUpdate) o;
        return remoteLogSegmentId.equals(that.remoteLogSegmentId)
                && customMetadata.equals(that.customMetadata)
                && state == that.state
                && combinedSegmentId.equals(that.combinedSegmentId)
                && combinedCoordinatorTopicPartition.equals(that.combinedCoordinatorTopicPartition)
                && startFilePosition == that.startFilePosition
                && endFilePosition == that.endFilePosition
                && eventTimestampMs() == that.eventTimestampMs()
                && brokerId() == that.brokerId();
    }

    @Override
    public int hashCode() {
        return Objects.hash(remoteLogSegmentId, customMetadata, state, combinedSegmentId,
                combinedCoordinatorTopicPartition, startFilePosition, endFilePosition, eventTimestampMs(), brokerId());
    }

    @Override
    public String toString() {
        return "RemoteWalLogSegmentMetadataUpdate{" +
                "remoteLogSegmentId=" + remoteLogSegmentId +
                ", customMetadata=" + customMetadata +
                ", state=" + state +
                ", combinedSegmentId=" + combinedSegmentId +
                ", combinedCoordinatorTopicPartition=" + combinedCoordinatorTopicPartition +
                ", startFilePosition=" + startFilePosition +
                ", endFilePosition=" + endFilePosition +
                ", brokerId=" + brokerId() +
                ", eventTimestampMs=" + eventTimestampMs() +
                '}';
    }
}
