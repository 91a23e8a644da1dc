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
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadata.RemoteLogSegmentMetadataEntry;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * It describes the metadata update about a combined log segment in the remote storage. It captures the start and end
 * file position for each log segment in the combined log segment and is constructed when
 * {@link RemoteWalStorageManager#copyLogSegmentData} is called. Immutable.
 */
public class RemoteWalCombinedLogSegmentMetadataUpdate extends RemoteLogMetadata {

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
     * Creates an instance with the given update of a combined log segment.
     *
     * @param combinedSegmentId               Universally unique id of the combined log segment.
     * @param remoteLogSegmentMetadataEntries Entry for each log segment, at least one.
     * @param customMetadata                  Custom metadata, as the storage returned it.
     * @param state                           State of the combined log segment.
     * @param brokerId                        Broker id from which this event is generated.
     * @param eventTimestampMs                Epoch time in milli seconds at which the combined log segment is copied to
     *                                        the remote storage.
     */
    public RemoteWalCombinedLogSegmentMetadataUpdate(
            Uuid combinedSegmentId,
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
     * @return unique id of the combined log segment.
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
     * @return the state of the combined log segment.
     */
    public RemoteLogSegmentState state() {
        return state;
    }

    /**
     * The first entry's partition, as in {@link RemoteWalCombinedLogSegmentMetadata#topicIdPartition()}.
     */
    @Override
    public TopicIdPartition topicIdPartition() {
        return remoteLogSegmentMetadataEntries.get(0).remoteLogSegmentId().topicIdPartition();
    }

    @Override
    public boolean equals(Object o) {
        if (this == o) {
            return true;
        }
        if (o == null || getClass() != o.getClass()) {
            return false;
        }
        RemoteWalCombinedLogSegmentMetadataUpdate that = (RemoteWalCombinedLogSegmentMetadataUpdate) o;
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
        return "RemoteWalCombinedLogSegmentMetadataUpdate{" +
                "combinedSegmentId=" + combinedSegmentId +
                ", remoteLogSegmentMetadataEntries=" + remoteLogSegmentMetadataEntries +
                ", customMetadata=" + customMetadata +
                ", state=" + state +
                ", brokerId=" + brokerId() +
                ", eventTimestampMs=" + eventTimestampMs() +
                '}';
    }
}
