package io.walbridge.shim;

import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentId;
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadata.RemoteLogSegmentMetadataEntry;
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadataUpdate;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadataUpdate;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** Metadata, bytes and settings for tests. */
final class Fixture {

    static final int BROKER = 3;
    static final long SEED = seed();

    private Fixture() {
    }

    /** A manager that talks to {@code socket}; {@code settings} are pairs of key and value. */
    static GrpcRemoteWalStorageManager manager(Path socket, Object... settings) {
        GrpcRemoteWalStorageManager manager = new GrpcRemoteWalStorageManager();
        manager.configure(settings(socket, settings));
        return manager;
    }

    static WalClient client(Path socket, Object... settings) {
        return new WalClient(new GrpcRemoteWalStorageManagerConfig(settings(socket, settings)));
    }

    static Map<String, Object> settings(Path socket, Object... settings) {
        Map<String, Object> all = new HashMap<>();
        all.put("target", "unix://" + socket);
        all.put("cluster.id", "test-cluster");
        all.put("broker.id", BROKER);
        for (int i = 0; i < settings.length; i += 2) {
            all.put((String) settings[i], settings[i + 1]);
        }
        return all;
    }

    static byte[] bytes(int size) {
        byte[] bytes = new byte[size];
        new Random(SEED + size).nextBytes(bytes);
        return bytes;
    }

    static List<RemoteWalLogSegmentMetadata> segments(int n) {
        Uuid topic = Uuid.randomUuid();
        List<RemoteWalLogSegmentMetadata> segments = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            var partition = new TopicIdPartition(topic, new TopicPartition("orders", i));
            segments.add(new RemoteWalLogSegmentMetadata(RemoteLogSegmentId.generateNew(partition), 100 + i, 200 + i,
                    1_700_000_000_000L + i, BROKER, 42, 1_700_000_000_001L, 5, new TreeMap<>(Map.of(0, 0L, 5, 90L)),
                    7, Uuid.randomUuid(), 1 << 30));
        }
        return segments;
    }

    static RemoteWalCombinedLogSegmentMetadata combined(List<RemoteWalLogSegmentMetadata> segments) {
        return combined(segments, 1_700_000_000_002L);
    }

    static RemoteWalCombinedLogSegmentMetadata combined(List<RemoteWalLogSegmentMetadata> segments, long timestamp) {
        List<RemoteLogSegmentMetadataEntry> entries = segments.stream()
                .map(s -> new RemoteLogSegmentMetadataEntry(s.remoteLogSegmentId(), -1, -1)).toList();
        return new RemoteWalCombinedLogSegmentMetadata(Uuid.randomUuid(), entries, BROKER, timestamp);
    }

    /** The segments with the places that a copy gave them, as the KIP's RLMWalCombineTask makes them. */
    static List<RemoteWalLogSegmentMetadata> copied(List<RemoteWalLogSegmentMetadata> segments,
                                                    RemoteWalCombinedLogSegmentMetadataUpdate update) {
        List<RemoteWalLogSegmentMetadata> copied = new ArrayList<>();
        for (int i = 0; i < segments.size(); i++) {
            var entry = update.remoteLogSegmentMetadataEntries().get(i);
            copied.add(segments.get(i).createWithUpdate(new RemoteWalLogSegmentMetadataUpdate(
                    entry.remoteLogSegmentId(), update.eventTimestampMs(), update.customMetadata(), update.state(),
                    update.brokerId(), update.combinedSegmentId(), update.topicIdPartition(),
                    entry.startFilePosition(), entry.endFilePosition())));
        }
        return copied;
    }

    private static long seed() {
        String given = System.getenv("WALBRIDGE_SEED");
        long seed = given == null ? System.nanoTime() : Long.parseLong(given);
        System.out.println("WALBRIDGE_SEED=" + seed);
        return seed;
    }
}
