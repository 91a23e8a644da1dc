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

import java.util.Collections;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/**
 * It describes the metadata about a section of an active log segment in the remote storage: consecutive record batches
 * of one partition, all of one leader epoch. The KIP uses this class and does not define it; here it has all that a
 * restore of the section needs. Immutable.
 *
 * <p>A section starts as {@link RemoteLogSegmentState#COPY_SEGMENT_STARTED}, belongs to a combined log segment after
 * {@link #createWithUpdate(Uuid)}, and has its place in it after
 * {@link #createWithUpdate(RemoteWalLogSegmentMetadataUpdate)}.
 */
public class RemoteWalLogSegmentMetadata extends RemoteLogMetadata {

    /**
     * Universally unique remote log segment id.
     */
    private final RemoteLogSegmentId remoteLogSegmentId;

    private final long startOffset;
    private final long endOffset;
    private final long maxTimestampMs;
    private final long brokerEpoch;
    private final int leaderEpoch;

    /**
     * LeaderEpoch vs offset for messages within and before this section.
     */
    private final NavigableMap<Integer, Long> segmentLeaderEpochs;

    private final long logStartOffset;
    private final Uuid logDirId;
    private final int segmentBytes;

    /**
     * Custom metadata of the combined log segment.
     */
    private final Optional<CustomMetadata> customMetadata;

    /**
     * It indicates the state in which the action is executed on this segment.
     */
    private final RemoteLogSegmentState state;

    private final Optional<Uuid> combinedSegmentId;
    private final long startFilePosition;
    private final long endFilePosition;

    /**
     * Creates an instance with the given metadata of a section.
     *
     * <p>{@code segmentLeaderEpochs} is the partition's whole lineage up to {@code leaderEpoch}, and not only the part
     * that falls into the section, since a restored log must start with all of it.
     *
     * @param remoteLogSegmentId  Universally unique remote log segment id.
     * @param startOffset         Start offset of the section, inclusive.
     * @param endOffset           End offset of the section, inclusive.
     * @param maxTimestampMs      Maximum record timestamp of the section in milli seconds, or -1 if it has none.
     * @param brokerId            Broker id from which this event is generated.
     * @param brokerEpoch         KRaft epoch of that broker.
     * @param eventTimestampMs    Epoch time in milli seconds at which the section is copied to the remote storage.
     * @param leaderEpoch         Leader epoch of the partition under which the section is copied.
     * @param segmentLeaderEpochs Leader epochs of the partition and their start offsets, up to leaderEpoch; not empty.
     * @param logStartOffset      Log start offset of the partition.
     * @param logDirId            Id of the log directory that holds the partition.
     * @param segmentBytes        Topic's segment.bytes.
     * @param customMetadata      Custom metadata of the combined log segment.
     * @param state               State of the section.
     * @param combinedSegmentId   Universally unique id of the combined log segment.
     * @param startFilePosition   Position of the section's first byte in the combined log segment, or -1.
     * @param endFilePosition     Position of the section's last byte in the combined log segment, inclusive, or -1.
     */
    public RemoteWalLogSegmentMetadata(RemoteLogSegmentId remoteLogSegmentId,
                                       long startOffset,
                                       long endOffset,
                                       long maxTimestampMs,
                                       int brokerId,
                                       long brokerEpoch,
                                       long eventTimestampMs,
                                       int leaderEpoch,
                                       Map<Integer, Long> segmentLeaderEpochs,
                                       long logStartOffset,
                                       Uuid logDirId,
                                       int segmentBytes,
                                       Optional<CustomMetadata> customMetadata,
                                       RemoteLogSegmentState state,
                                       Optional<Uuid> combinedSegmentId,
                                       long startFilePosition,
                                       long endFilePosition) {
        super(brokerId, eventTimestampMs);
        this.remoteLogSegmentId = Objects.requireNonNull(remoteLogSegmentId, "remoteLogSegmentId can not be null");
        if (startOffset < 0) {
            throw new IllegalArgumentException("Unexpected start offset = " + startOffset + ". StartOffset for a "
                    + "remote segment cannot be negative");
        }
        this.startOffset = startOffset;
        if (endOffset < startOffset) {
            throw new IllegalArgumentException("Unexpected end offset = " + endOffset + ". EndOffset for a remote "
                    + "segment cannot be less than startOffset = " + startOffset);
        }
        this.endOffset = endOffset;
        this.maxTimestampMs = maxTimestampMs;
        this.brokerEpoch = brokerEpoch;
        this.leaderEpoch = leaderEpoch;
        if (segmentLeaderEpochs == null || segmentLeaderEpochs.isEmpty()) {
            throw new IllegalArgumentException("segmentLeaderEpochs can not be null or empty");
        }
        this.segmentLeaderEpochs = Collections.unmodifiableNavigableMap(new TreeMap<>(segmentLeaderEpochs));
        this.logStartOffset = logStartOffset;
        this.logDirId = Objects.requireNonNull(logDirId, "logDirId can not be null");
        this.segmentBytes = segmentBytes;
        this.customMetadata = Objects.requireNonNull(customMetadata, "customMetadata can not be null");
        this.state = Objects.requireNonNull(state, "state can not be null");
        this.combinedSegmentId = Objects.requireNonNull(combinedSegmentId, "combinedSegmentId can not be null");
        this.startFilePosition = startFilePosition;
        this.endFilePosition = endFilePosition;
    }

    /**
     * Creates an instance with the given metadata of a section that is not copied yet: it belongs to no combined log
     * segment and its state is {@link RemoteLogSegmentState#COPY_SEGMENT_STARTED}.
     *
     * @param remoteLogSegmentId  Universally unique remote log segment id.
     * @param startOffset         Start offset of the section, inclusive.
     * @param endOffset           End offset of the section, inclusive.
     * @param maxTimestampMs      Maximum record timestamp of the section in milli seconds, or -1 if it has none.
     * @param brokerId            Broker id from which this event is generated.
     * @param brokerEpoch         KRaft epoch of that broker.
     * @param eventTimestampMs    Epoch time in milli seconds at which the section is copied to the remote storage.
     * @param leaderEpoch         Leader epoch of the partition under which the section is copied.
     * @param segmentLeaderEpochs Leader epochs of the partition and their start offsets, up to leaderEpoch; not empty.
     * @param logStartOffset      Log start offset of the partition.
     * @param logDirId            Id of the log directory that holds the partition.
     * @param segmentBytes        Topic's segment.bytes.
     */
    public RemoteWalLogSegmentMetadata(RemoteLogSegmentId remoteLogSegmentId,
                                       long startOffset,
                                       long endOffset,
                                       long maxTimestampMs,
                                       int brokerId,
                                       long brokerEpoch,
                                       long eventTimestampMs,
                                       int leaderEpoch,
                                       Map<Integer, Long> segmentLeaderEpochs,
                                       long logStartOffset,
                                       Uuid logDirId,
                                       int segmentBytes) {
        this(remoteLogSegmentId, startOffset, endOffset, maxTimestampMs, brokerId, brokerEpoch, eventTimestampMs,
                leaderEpoch, segmentLeaderEpochs, logStartOffset, logDirId, segmentBytes, Optional.empty(),
                RemoteLogSegmentState.COPY_SEGMENT_STARTED, Optional.empty(), -1, -1);
    }

    private RemoteWalLogSegmentMetadata(RemoteWalLogSegmentMetadata section,
                                        int brokerId,
                                        long eventTimestampMs,
                                        Optional<CustomMetadata> customMetadata,
                                        RemoteLogSegmentState state,
                                        Uuid combinedSegmentId,
                                        long startFilePosition,
                                        long endFilePosition) {
        super(brokerId, eventTimestampMs);
        this.remoteLogSegmentId = section.remoteLogSegmentId;
        this.startOffset = section.startOffset;
        this.endOffset = section.endOffset;
        this.maxTimestampMs = section.maxTimestampMs;
        this.brokerEpoch = section.brokerEpoch;
        this.leaderEpoch = section.leaderEpoch;
        this.segmentLeaderEpochs = section.segmentLeaderEpochs;
        this.logStartOffset = section.logStartOffset;
        this.logDirId = section.logDirId;
        this.segmentBytes = section.segmentBytes;
        this.customMetadata = customMetadata;
        this.state = state;
        this.combinedSegmentId = Optional.of(combinedSegmentId);
        this.startFilePosition = startFilePosition;
        this.endFilePosition = endFilePosition;
    }

    /**
     * @return unique id of this section.
     */
    public RemoteLogSegmentId remoteLogSegmentId() {
        return remoteLogSegmentId;
    }

    /**
     * @return Start offset of this section (inclusive).
     */
    public long startOffset() {
        return startOffset;
    }

    /**
     * @return End offset of this section (inclusive).
     */
    public long endOffset() {
        return endOffset;
    }

    /**
     * @return Maximum record timestamp of this section in milli seconds, or -1 if it has none.
     */
    public long maxTimestampMs() {
        return maxTimestampMs;
    }

    /**
     * @return KRaft epoch of the broker that copied this section.
     */
    public long brokerEpoch() {
        return brokerEpoch;
    }

    /**
     * @return Leader epoch of the partition under which this section was copied.
     */
    public int leaderEpoch() {
        return leaderEpoch;
    }

    /**
     * @return Map of leader epoch vs start offset, the partition's whole lineage up to {@link #leaderEpoch()};
     * unmodifiable and not empty.
     */
    public NavigableMap<Integer, Long> segmentLeaderEpochs() {
        return segmentLeaderEpochs;
    }

    /**
     * @return Log start offset of the partition when this section was copied.
     */
    public long logStartOffset() {
        return logStartOffset;
    }

    /**
     * @return Id of the log directory that holds the partition.
     */
    public Uuid logDirId() {
        return logDirId;
    }

    /**
     * @return the topic's segment.bytes.
     */
    public int segmentBytes() {
        return segmentBytes;
    }

    /**
     * @return Custom metadata of the combined log segment.
     */
    public Optional<CustomMetadata> customMetadata() {
        return customMetadata;
    }

    /**
     * @return the state of this section.
     */
    public RemoteLogSegmentState state() {
        return state;
    }

    /**
     * @return unique id of the combined log segment to which this section belongs.
     */
    public Optional<Uuid> combinedSegmentId() {
        return combinedSegmentId;
    }

    /**
     * @return position of this section's first byte in the combined log segment, or -1 if it is not copied yet.
     */
    public long startFilePosition() {
        return startFilePosition;
    }

    /**
     * @return position of this section's last byte in the combined log segment, inclusive, or -1 if it is not copied
     * yet.
     */
    public long endFilePosition() {
        return endFilePosition;
    }

    @Override
    public TopicIdPartition topicIdPartition() {
        return remoteLogSegmentId.topicIdPartition();
    }

    /**
     * Creates a new RemoteWalLogSegmentMetadata that belongs to the given combined log segment. This method will not
     * update this instance.
     *
     * @param combinedSegmentId unique id of the combined log segment.
     * @return a new instance that differs from this one in the combined log segment.
     */
    public RemoteWalLogSegmentMetadata createWithUpdate(Uuid combinedSegmentId) {
        return new RemoteWalLogSegmentMetadata(this, brokerId(), eventTimestampMs(), customMetadata, state,
                combinedSegmentId, startFilePosition, endFilePosition);
    }

    /**
     * Creates a new RemoteWalLogSegmentMetadata applying the given {@code rwlsmUpdate} on this instance. This method
     * will not update this instance.
     *
     * @param rwlsmUpdate update to be applied.
     * @return a new instance created by applying the given update on this instance.
     */
    public RemoteWalLogSegmentMetadata createWithUpdate(RemoteWalLogSegmentMetadataUpdate rwlsmUpdate) {
        if (!remoteLogSegmentId.equals(rwlsmUpdate.remoteLogSegmentId())) {
            throw new IllegalArgumentException("Given rwlsmUpdate does not have this instance's remoteLogSegmentId.");
        }
        return new RemoteWalLogSegmentMetadata(this, rwlsmUpdate.brokerId(), rwlsmUpdate.eventTimestampMs(),
                rwlsmUpdate.customMetadata(), rwlsmUpdate.state(), rwlsmUpdate.combinedSegmentId(),
                rwlsmUpdate.startFilePosition(), rwlsmUpdate.endFilePosition());
    }

    @Override
    public boolean equals(Object o) {
        if (this == o) {
            return true;
        }
        if (o == null || getClass() != o.getClass()) {
            return false;
        }
        RemoteWalLogSegmentMetadata that = (RemoteWalLogSegmentMetadata) o;
        return startOffset == that.startOffset
                && endOffset == that.endOffset
                && maxTimestampMs == that.maxTimestampMs
                && brokerEpoch == that.brokerEpoch
                && leaderEpoch == that.leaderEpoch
                && logStartOffset == that.logStartOffset
                && segmentBytes == that.segmentBytes
                && startFilePosition == that.startFilePosition
                && endFilePosition == that.endFilePosition
                && eventTimestampMs() == that.eventTimestampMs()
                && brokerId() == that.brokerId()
                && state == that.state
                && remoteLogSegmentId.equals(that.remoteLogSegmentId)
                && segmentLeaderEpochs.equals(that.segmentLeaderEpochs)
                && logDirId.equals(that.logDirId)
                && customMetadata.equals(that.customMetadata)
                && combinedSegmentId.equals(that.combinedSegmentId);
    }

    @Override
    public int hashCode() {
        return Objects.hash(remoteLogSegmentId, startOffset, endOffset, maxTimestampMs, brokerEpoch, leaderEpoch,
                segmentLeaderEpochs, logStartOffset, logDirId, segmentBytes, customMetadata, state, combinedSegmentId,
                startFilePosition, endFilePosition, eventTimestampMs(), brokerId());
    }

    @Override
    public String toString() {
        return "RemoteWalLogSegmentMetadata{" +
                "remoteLogSegmentId=" + remoteLogSegmentId +
                ", startOffset=" + startOffset +
                ", endOffset=" + endOffset +
                ", maxTimestampMs=" + maxTimestampMs +
                ", brokerId=" + brokerId() +
                ", brokerEpoch=" + brokerEpoch +
                ", eventTimestampMs=" + eventTimestampMs() +
                ", leaderEpoch=" + leaderEpoch +
                ", segmentLeaderEpochs=" + segmentLeaderEpochs +
                ", logStartOffset=" + logStartOffset +
                ", logDirId=" + logDirId +
                ", segmentBytes=" + segmentBytes +
                ", customMetadata=" + customMetadata +
                ", state=" + state +
                ", combinedSegmentId=" + combinedSegmentId +
                ", startFilePosition=" + startFilePosition +
                ", endFilePosition=" + endFilePosition +
                '}';
    }
}
