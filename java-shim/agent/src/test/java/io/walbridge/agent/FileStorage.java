// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.record.Records;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentState;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadata.RemoteLogSegmentMetadataEntry;
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadataUpdate;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteWalStorageManager;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Appends what it is given to the file that its setting "file" names, in a real broker's JVM. It is loaded from a class
 * path of its own, as anybody's implementation would be.
 */
public final class FileStorage implements RemoteWalStorageManager {
    private String file;
    private DataOutputStream out;

    @Override
    public void configure(Map<String, ?> configs) {
        try {
            file = configs.get("file").toString();
            out = new DataOutputStream(new FileOutputStream(file, true));
            out.writeUTF(configs.get("cluster.id").toString());
        } catch (IOException e) {
            throw new IllegalArgumentException(e);
        }
    }

    @Override
    public synchronized RemoteWalCombinedLogSegmentMetadataUpdate copyLogSegmentData(
            RemoteWalCombinedLogSegmentMetadata combined, List<Records> recordsList,
            List<RemoteWalLogSegmentMetadata> segments) throws RemoteStorageException {
        if (Thread.currentThread().getContextClassLoader() != getClass().getClassLoader()) {
            throw new RemoteStorageException("the context class loader is not the storage's own");
        }
        try {
            List<RemoteLogSegmentMetadataEntry> entries = new ArrayList<>();
            List<?> records = recordsList; // Their class has another package in Kafka 4.3.
            for (int i = 0; i < segments.size(); i++) {
                int length = write(segments.get(i), buffer(records.get(i)));
                entries.add(new RemoteLogSegmentMetadataEntry(segments.get(i).remoteLogSegmentId(), 0, length - 1));
            }
            out.flush();
            return new RemoteWalCombinedLogSegmentMetadataUpdate(combined.combinedSegmentId(), entries,
                    Optional.empty(), RemoteLogSegmentState.COPY_SEGMENT_FINISHED, combined.brokerId(), 0);
        } catch (IOException | ReflectiveOperationException e) {
            throw new RemoteStorageException(e);
        }
    }

    private int write(RemoteWalLogSegmentMetadata segment, ByteBuffer bytes) throws IOException {
        out.writeUTF(segment.remoteLogSegmentId().topicIdPartition().topicPartition().toString());
        out.writeLong(segment.startOffset());
        out.writeLong(segment.endOffset());
        out.writeInt(segment.leaderEpoch());
        out.writeLong(segment.brokerEpoch());
        out.writeUTF(segment.logDirId().toString());
        out.writeInt(segment.segmentBytes());
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        out.writeInt(copy.length);
        out.write(copy);
        return copy.length;
    }

    private static ByteBuffer buffer(Object records) throws ReflectiveOperationException {
        Class<?> type = records.getClass();
        if (type.getSimpleName().equals("MemoryRecords")) {
            return (ByteBuffer) type.getMethod("buffer").invoke(records);
        }
        ByteBuffer bytes = ByteBuffer.allocate((int) type.getMethod("sizeInBytes").invoke(records));
        type.getMethod("readInto", ByteBuffer.class, int.class).invoke(records, bytes, 0);
        return bytes;
    }

    @Override
    public RemoteWalCombinedLogSegmentMetadataUpdate copyLogSegmentData(
            RemoteWalCombinedLogSegmentMetadata combined, List<Records> recordsList) {
        throw new UnsupportedOperationException("the agent uses the other one");
    }

    @Override
    public synchronized InputStream fetchLogSegment(RemoteWalLogSegmentMetadata segment, int from, int to)
            throws RemoteStorageException {
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(file)))) {
            while (true) {
                String name = in.readUTF();
                if (!name.matches(".*-\\d+")) {
                    continue; // The cluster's id, with which every start of the broker begins.
                }
                boolean found = name.equals(segment.topicIdPartition().topicPartition().toString())
                        & in.readLong() == segment.startOffset() & in.readLong() == segment.endOffset()
                        & in.readInt() == segment.leaderEpoch();
                in.readLong();
                in.readUTF();
                in.readInt();
                byte[] bytes = in.readNBytes(in.readInt());
                if (found) {
                    return new ByteArrayInputStream(bytes);
                }
            }
        } catch (EOFException e) {
            throw new RemoteResourceNotFoundException(segment.remoteLogSegmentId() + " is not in " + file, e);
        } catch (IOException e) {
            throw new RemoteStorageException(e);
        }
    }

    @Override
    public void close() throws IOException {
        out.close();
    }
}
