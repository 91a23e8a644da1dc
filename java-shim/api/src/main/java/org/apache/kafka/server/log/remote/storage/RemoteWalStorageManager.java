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

import org.apache.kafka.common.Configurable;
import org.apache.kafka.common.record.Records;

import java.io.Closeable;
import java.io.InputStream;
import java.util.List;

/**
 * KIP-1176's counterpart of {@link RemoteStorageManager} for active (write-ahead) log segments: stores sections of the
 * active segments of many partitions as one combined segment, and reads them back.
 *
 * <p>The two methods that the KIP prints are here as it prints them. The printed {@code copyLogSegmentData} knows only
 * the ids of the segments, and not what a restore needs (offsets, epochs, the lineage); for that there is an overload,
 * which by default falls back to the printed method.
 *
 * <p>{@code Records} is erased from the signatures, which is what lets one jar serve every Kafka: 4.3 moved the class
 * to {@code org.apache.kafka.common.record.internal}. An implementation for all versions takes the elements as objects.
 *
 * <p>All methods may be called by many threads at once, after {@link #configure} has returned and until
 * {@link #close} is called.
 */
public interface RemoteWalStorageManager extends Configurable, Closeable {

    /**
     * Copies the given List of {@link Records} provided for the given {@code remoteWalCombinedLogSegmentMetadata}.
     * {@code remoteWalCombinedLogSegmentMetadata} contains the metadata for a list of segments to be copied. The list
     * of {@link Records} is the list of {@link org.apache.kafka.common.record.FileRecords} data objects to be copied
     * for each log segment.
     * <p>
     * This operation is expected to be idempotent. If a copy operation is retried and there is existing content already
     * written, it should be overwritten, and do not throw {@link RemoteStorageException}
     *
     * @param remoteWalCombinedLogSegmentMetadata metadata about the combined remote wal log segment.
     * @param recordsList                         a list of {@link Records} to be copied
     * @return RemoteWalCombinedLogSegmentMetadataUpdate which contains the metadata for the copied segments
     * @throws RemoteStorageException if there are any errors in storing the data of the segment.
     */
    RemoteWalCombinedLogSegmentMetadataUpdate copyLogSegmentData(
            RemoteWalCombinedLogSegmentMetadata remoteWalCombinedLogSegmentMetadata,
            List<Records> recordsList) throws RemoteStorageException;

    /**
     * Like {@link #copyLogSegmentData(RemoteWalCombinedLogSegmentMetadata, List)}, with all that is known of each
     * segment, so that what is stored can be restored with no other metadata. Not in the KIP.
     *
     * @param remoteWalCombinedLogSegmentMetadata metadata about the combined remote wal log segment.
     * @param recordsList                         a list of {@link Records} to be copied
     * @param segments                            the metadata of each segment, in the order of {@code recordsList} and
     *                                            of the entries of {@code remoteWalCombinedLogSegmentMetadata}
     * @return RemoteWalCombinedLogSegmentMetadataUpdate which contains the metadata for the copied segments
     * @throws RemoteStorageException if there are any errors in storing the data of the segment.
     */
    default RemoteWalCombinedLogSegmentMetadataUpdate copyLogSegmentData(
            RemoteWalCombinedLogSegmentMetadata remoteWalCombinedLogSegmentMetadata,
            List<Records> recordsList,
            List<RemoteWalLogSegmentMetadata> segments) throws RemoteStorageException {
        return copyLogSegmentData(remoteWalCombinedLogSegmentMetadata, recordsList);
    }

    /**
     * Returns the remote log segment data file/object as InputStream for the given {@link RemoteWalLogSegmentMetadata}
     * starting from the given startPosition. The stream will end at the smaller of endPosition and the end of the
     * remote log segment data file/object.
     * <p>
     * Positions count from the segment's first byte, not from the combined segment's. The caller closes the stream.
     *
     * @param remoteLogSegmentMetadata metadata about the remote log segment.
     * @param startPosition            start position of log segment to be read, inclusive.
     * @param endPosition              end position of log segment to be read, inclusive.
     * @return input stream of the requested log segment data.
     * @throws RemoteStorageException          if there are any errors while fetching the desired segment.
     * @throws RemoteResourceNotFoundException the requested log segment is not found in the remote storage.
     */
    InputStream fetchLogSegment(RemoteWalLogSegmentMetadata remoteLogSegmentMetadata,
                                int startPosition,
                                int endPosition) throws RemoteStorageException;
}
