// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentId;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentState;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.zip.CRC32C;

/**
 * The agent's checkpoint in a log directory, beside Kafka's own: a version, the stored ends, and a CRC-32C of all that.
 * It appears by one rename, so there is a whole one, or none. For one thread at a time.
 */
final class CheckpointFile {
    static final String NAME = "walbridge-checkpoint";

    private static final int VERSION = 1;
    /** A hundred thousand partitions take about 25 MB. */
    private static final long MAX_BYTES = 128L * 1024 * 1024;
    /** Leader epochs of an entry; a longer lineage loses its oldest, which at worst means more to upload. */
    private static final int MAX_EPOCHS = 64;

    private final Path path;
    private final Path temporary;

    CheckpointFile(Path logDirectory) {
        path = logDirectory.resolve(NAME);
        temporary = logDirectory.resolve(NAME + ".tmp");
    }

    /** What was written last; nothing where nothing was. An IOException says what is wrong with the file. */
    List<StoredEnd> read() throws IOException {
        byte[] bytes;
        try {
            long size = Files.size(path);
            if (size > MAX_BYTES) {
                throw new IOException(path + " has " + size + " bytes, at most " + MAX_BYTES + " are possible");
            }
            bytes = Files.readAllBytes(path);
        } catch (NoSuchFileException e) {
            return List.of();
        }
        int length = bytes.length - Integer.BYTES;
        if (length < 0 || ByteBuffer.wrap(bytes).getInt(length) != crc(bytes, length)) {
            throw new IOException(path + " is damaged: its CRC-32C is not that of its " + bytes.length + " bytes");
        }
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes, 0, length))) {
            int version = in.readInt();
            if (version != VERSION) {
                throw new IOException(path + " has version " + version + ", not " + VERSION);
            }
            List<StoredEnd> ends = new ArrayList<>();
            for (int left = in.readInt(); left > 0; left--) {
                ends.add(readEnd(in));
            }
            return ends;
        } catch (IllegalArgumentException e) {
            throw new IOException(path + " holds what cannot be: " + e.getMessage(), e);
        }
    }

    /** Replaces the file; the new one is on the disk before it takes the place of the old one. */
    void write(Collection<StoredEnd> ends) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(VERSION);
            out.writeInt(ends.size());
            for (StoredEnd end : ends) {
                writeEnd(out, end);
            }
            out.writeInt(crc(bytes.toByteArray(), bytes.size()));
        }
        try (FileChannel channel = FileChannel.open(temporary, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING)) {
            ByteBuffer buffer = ByteBuffer.wrap(bytes.toByteArray());
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
            channel.force(true);
        }
        Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE);
    }

    private static void writeEnd(DataOutputStream out, StoredEnd end) throws IOException {
        RemoteWalLogSegmentMetadata section = end.section();
        out.writeUTF(end.id().topic());
        writeUuid(out, end.id().topicId());
        out.writeInt(end.id().partition());
        out.writeLong(end.offset());
        writeUuid(out, section.remoteLogSegmentId().id());
        out.writeLong(section.startOffset());
        out.writeLong(section.endOffset());
        out.writeLong(section.maxTimestampMs());
        out.writeInt(section.brokerId());
        out.writeLong(section.brokerEpoch());
        out.writeLong(section.eventTimestampMs());
        out.writeInt(section.leaderEpoch());
        List<Integer> epochs = List.copyOf(section.segmentLeaderEpochs().keySet());
        epochs = epochs.subList(Math.max(0, epochs.size() - MAX_EPOCHS), epochs.size());
        out.writeInt(epochs.size());
        for (int epoch : epochs) {
            out.writeInt(epoch);
            out.writeLong(section.segmentLeaderEpochs().get(epoch));
        }
        out.writeLong(section.logStartOffset());
        writeUuid(out, section.logDirId());
        out.writeInt(section.segmentBytes());
        byte[] custom = section.customMetadata().map(CustomMetadata::value).orElse(new byte[0]);
        out.writeInt(custom.length);
        out.write(custom);
        writeUuid(out, section.combinedSegmentId().orElse(Uuid.ZERO_UUID));
        out.writeLong(section.startFilePosition());
        out.writeLong(section.endFilePosition());
    }

    private static StoredEnd readEnd(DataInputStream in) throws IOException {
        String topic = in.readUTF();
        Uuid topicId = readUuid(in);
        TopicIdPartition id = new TopicIdPartition(topicId, in.readInt(), topic);
        long offset = in.readLong();
        RemoteWalLogSegmentMetadata section = new RemoteWalLogSegmentMetadata(
                new RemoteLogSegmentId(id, readUuid(in)), in.readLong(), in.readLong(), in.readLong(), in.readInt(),
                in.readLong(), in.readLong(), in.readInt(), readLineage(in), in.readLong(), readUuid(in), in.readInt(),
                readCustomMetadata(in), RemoteLogSegmentState.COPY_SEGMENT_FINISHED, Optional.of(readUuid(in)),
                in.readLong(), in.readLong());
        return new StoredEnd(section, offset);
    }

    private static NavigableMap<Integer, Long> readLineage(DataInputStream in) throws IOException {
        NavigableMap<Integer, Long> lineage = new TreeMap<>();
        for (int left = in.readInt(); left > 0; left--) {
            lineage.put(in.readInt(), in.readLong());
        }
        return lineage;
    }

    private static Optional<CustomMetadata> readCustomMetadata(DataInputStream in) throws IOException {
        byte[] custom = in.readNBytes(in.readInt());
        return custom.length == 0 ? Optional.empty() : Optional.of(new CustomMetadata(custom));
    }

    private static void writeUuid(DataOutputStream out, Uuid id) throws IOException {
        out.writeLong(id.getMostSignificantBits());
        out.writeLong(id.getLeastSignificantBits());
    }

    private static Uuid readUuid(DataInputStream in) throws IOException {
        return new Uuid(in.readLong(), in.readLong());
    }

    private static int crc(byte[] bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (int) crc.getValue();
    }
}
