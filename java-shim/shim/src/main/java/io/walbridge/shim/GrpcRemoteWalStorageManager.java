package io.walbridge.shim;

import com.google.protobuf.ByteString;
import io.walbridge.proto.frame.v1.Entry;
import io.walbridge.proto.v1.CopyHeader;
import io.walbridge.proto.v1.CopyLogSegmentDataResponse;
import io.walbridge.proto.v1.EntryRange;
import io.walbridge.proto.v1.Source;
import org.apache.kafka.common.record.Records;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteWalCombinedLogSegmentMetadataUpdate;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteWalStorageManager;

import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A {@link RemoteWalStorageManager} that leaves everything to the Walbridge daemon. It translates, and no more: what
 * {@link WalClient} says of deadlines, errors, interrupts and memory holds here too.
 *
 * <p>The copies' custom metadata is the daemon's extent, at most 64 bytes. A repeated copy is stored again rather than
 * overwritten, with an extent of its own; both can be read.
 *
 * <p>Of FileRecords that come with their segments' metadata the daemon reads the file itself, where it listens on a
 * socket of this host. The copy fails where it cannot, or where the file does not hold what the metadata says; for a
 * minute after that their bytes are sent, as those of MemoryRecords always are.
 */
public final class GrpcRemoteWalStorageManager implements RemoteWalStorageManager {

    private static final long MAX_WAITED_MS = 60_000;

    private GrpcRemoteWalStorageManagerConfig config;
    private WalClient client;
    private FileReads fileReads;

    /** Takes the settings of {@link GrpcRemoteWalStorageManagerConfig}; it does not connect yet. */
    @Override
    public void configure(Map<String, ?> configs) {
        config = new GrpcRemoteWalStorageManagerConfig(configs);
        client = new WalClient(config);
        fileReads = new FileReads();
    }

    /** Copies with nothing known but the segments' ids: what is stored can be read, and not be restored. */
    @Override
    public RemoteWalCombinedLogSegmentMetadataUpdate copyLogSegmentData(
            RemoteWalCombinedLogSegmentMetadata combined, List<Records> recordsList) throws RemoteStorageException {
        List<Section> sections = sections(combined, recordsList);
        List<Entry> entries = new ArrayList<>(sections.size());
        for (int i = 0; i < sections.size(); i++) {
            var id = combined.remoteLogSegmentMetadataEntries().get(i).remoteLogSegmentId();
            entries.add(Translation.entry(id, sections.get(i).sizeInBytes()));
        }
        return copy(combined, entries, sections, List.of());
    }

    @Override
    public RemoteWalCombinedLogSegmentMetadataUpdate copyLogSegmentData(
            RemoteWalCombinedLogSegmentMetadata combined, List<Records> recordsList,
            List<RemoteWalLogSegmentMetadata> segments) throws RemoteStorageException {
        List<Section> sections = sections(combined, recordsList);
        if (segments.size() != sections.size()) {
            throw new IllegalArgumentException("copy of " + combined.combinedSegmentId() + ": " + segments.size()
                    + " segments for " + sections.size() + " records");
        }
        List<Entry> entries = new ArrayList<>(sections.size());
        for (int i = 0; i < sections.size(); i++) {
            var id = combined.remoteLogSegmentMetadataEntries().get(i).remoteLogSegmentId();
            if (!id.equals(segments.get(i).remoteLogSegmentId())) {
                throw new IllegalArgumentException("copy of " + combined.combinedSegmentId() + ": entry " + i + " is "
                        + id + " and its segment " + segments.get(i).remoteLogSegmentId());
            }
            entries.add(Translation.entry(segments.get(i), sections.get(i).sizeInBytes()));
        }
        return copy(combined, entries, sections, sources(sections));
    }

    @Override
    public InputStream fetchLogSegment(RemoteWalLogSegmentMetadata segment, int startPosition, int endPosition)
            throws RemoteStorageException {
        EntryRange range = Translation.range(segment, startPosition, endPosition);
        return client.fetch(ByteString.copyFrom(segment.customMetadata().orElseThrow().value()), range);
    }

    /** Lets running calls finish for at most five seconds, then cancels them. Idempotent. */
    @Override
    public void close() {
        if (client != null) {
            client.close();
            fileReads.close();
        }
    }

    /** How long the copy has waited, bounded because the clock may have been set in between. */
    private static int waitedMs(RemoteWalCombinedLogSegmentMetadata combined) {
        long waited = System.currentTimeMillis() - combined.eventTimestampMs();
        return (int) Math.max(0, Math.min(waited, MAX_WAITED_MS));
    }

    // Not a List<Records>: iterating over one would name a class that Kafka 4.3 does not have.
    private List<Section> sections(RemoteWalCombinedLogSegmentMetadata combined, List<?> recordsList) {
        if (recordsList.size() != combined.remoteLogSegmentMetadataEntries().size()) {
            throw new IllegalArgumentException("copy of " + combined.combinedSegmentId() + ": "
                    + recordsList.size() + " records for " + combined.remoteLogSegmentMetadataEntries().size()
                    + " entries");
        }
        List<Section> sections = new ArrayList<>(recordsList.size());
        for (Object records : recordsList) {
            sections.add(BrokerRecords.section(records, fileReads));
        }
        return sections;
    }

    /** Where the daemon finds the sections that are parts of files; empty where it is to get bytes. */
    private List<Source> sources(List<Section> sections) {
        if (!client.daemonReadsFiles()) {
            return List.of();
        }
        List<Source> sources = new ArrayList<>(sections.size());
        boolean any = false;
        for (Section section : sections) {
            Source source = section.source();
            sources.add(source);
            any |= !source.getPath().isEmpty();
        }
        return any ? sources : List.of();
    }

    private RemoteWalCombinedLogSegmentMetadataUpdate copy(RemoteWalCombinedLogSegmentMetadata combined,
                                                           List<Entry> entries, List<Section> sections,
                                                           List<Source> sources) throws RemoteStorageException {
        CopyHeader header = CopyHeader.newBuilder()
                .setClusterId(config.clusterId())
                .setBrokerId(config.brokerId())
                .setCombinedSegmentId(Translation.bytes(combined.combinedSegmentId()))
                .addAllEntries(entries)
                .setWaitedMs(waitedMs(combined))
                .addAllSources(sources)
                .build();
        CopyLogSegmentDataResponse response = client.copy(header, sections);
        return Translation.update(combined, entries, response, System.currentTimeMillis());
    }
}
