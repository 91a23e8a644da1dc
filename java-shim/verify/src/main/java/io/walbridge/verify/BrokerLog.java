// SPDX-License-Identifier: Apache-2.0
package io.walbridge.verify;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.record.internal.FileLogInputStream.FileChannelRecordBatch;
import org.apache.kafka.common.record.internal.FileRecords;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * One partition's log as the broker's files have it. It is read as it is when opened; the broker may run, but should
 * not append, roll or delete.
 */
final class BrokerLog implements Closeable {

    /** Where a record batch lies. */
    private record Location(FileRecords segment, int position, int length, long lastOffset) { }

    private final Path dir;
    private final List<FileRecords> segments = new ArrayList<>();
    private final NavigableMap<Long, Location> batches = new TreeMap<>();
    private final NavigableMap<Integer, Long> epochs = new TreeMap<>();
    private final Uuid topicId;
    private final long start;

    /** @param startOffset the log start, which may lie within a segment; -1 where it is the first segment's */
    BrokerLog(Path dir, long startOffset) throws IOException {
        this.dir = dir;
        topicId = readTopicId();
        readEpochs();
        List<Path> files;
        try (Stream<Path> all = Files.list(dir)) {
            files = all.filter(f -> f.getFileName().toString().matches("\\d{20}\\.log")).sorted().toList();
        }
        if (files.isEmpty()) {
            throw new IOException(dir + " has no segment");
        }
        long first = Long.parseLong(files.get(0).getFileName().toString().substring(0, 20));
        if (startOffset >= 0 && startOffset < first) {
            throw new IOException(dir + " has no segment of the log start " + startOffset);
        }
        start = Math.max(first, startOffset);
        for (Path file : files) {
            FileRecords segment = FileRecords.open(file.toFile(), false);
            segments.add(segment);
            for (FileChannelRecordBatch batch : segment.batches()) {
                batches.put(batch.baseOffset(),
                        new Location(segment, batch.position(), batch.sizeInBytes(), batch.lastOffset()));
            }
        }
    }

    Uuid topicId() {
        return topicId;
    }

    /** The leader epochs and the offset at which each starts. */
    NavigableMap<Integer, Long> epochs() {
        return Collections.unmodifiableNavigableMap(epochs);
    }

    /** The log start offset. */
    long start() {
        return start;
    }

    /** The offset after the last batch. */
    long end() {
        return batches.isEmpty() ? start : Math.max(start, batches.lastEntry().getValue().lastOffset + 1);
    }

    /** The bytes of the batch with that base offset; null where there is none. */
    ByteBuffer batch(long baseOffset) throws IOException {
        Location at = batches.get(baseOffset);
        if (at == null) {
            return null;
        }
        ByteBuffer bytes = ByteBuffer.allocate(at.length);
        at.segment.readInto(bytes, at.position);
        return bytes;
    }

    @Override
    public void close() throws IOException {
        for (FileRecords segment : segments) {
            segment.channel().close(); // FileRecords.close would trim the file
        }
    }

    @Override
    public String toString() {
        return dir.getFileName().toString();
    }

    private Uuid readTopicId() throws IOException {
        for (String line : Files.readAllLines(dir.resolve("partition.metadata"))) {
            if (line.startsWith("topic_id: ")) {
                return Uuid.fromString(line.substring("topic_id: ".length()).strip());
            }
        }
        throw new IOException(dir + "/partition.metadata has no topic_id");
    }

    private void readEpochs() throws IOException {
        // Version and number of lines, then an epoch and its start offset on each line.
        Path checkpoint = dir.resolve("leader-epoch-checkpoint");
        for (String line : Files.readAllLines(checkpoint).stream().skip(2).toList()) {
            String[] fields = line.split(" ");
            epochs.put(Integer.parseInt(fields[0]), Long.parseLong(fields[1]));
        }
    }
}
