package io.walbridge.shim;

import com.google.protobuf.ByteString;
import io.grpc.MethodDescriptor;
import io.grpc.StatusException;
import io.walbridge.proto.v1.CopyHeader;
import io.walbridge.proto.v1.CopyLogSegmentDataRequest;
import io.walbridge.proto.v1.CopyLogSegmentDataResponse;
import io.walbridge.proto.v1.EntryRange;
import io.walbridge.proto.v1.FetchEntriesRequest;
import io.walbridge.proto.v1.FetchEntriesResponse;
import io.walbridge.proto.v1.FetchLogSegmentRequest;
import io.walbridge.proto.v1.FetchLogSegmentResponse;
import io.walbridge.proto.v1.GetStatusRequest;
import io.walbridge.proto.v1.GetStatusResponse;
import io.walbridge.proto.v1.ListCombinedSegmentsRequest;
import io.walbridge.proto.v1.ListCombinedSegmentsResponse;
import io.walbridge.proto.v1.WalServiceGrpc;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/**
 * The daemon's service, for threads that wait for their answer.
 *
 * <p>All methods may be called by many threads at once. Each call ends at its deadline at the latest. While the daemon
 * cannot be reached a call fails at once with UNAVAILABLE; nothing is retried here. An interrupt cancels the call,
 * which fails with the thread's interrupt flag set. What is sent and received is bounded by flow control: a call holds
 * a few messages, or 1 MiB, whatever its length.
 *
 * <p>Every error of the daemon's is a {@link RemoteStorageException}: a RemoteResourceNotFoundException where the
 * object is in no zone, a RetriableRemoteStorageException (since Kafka 4.2) where the same call may succeed later.
 */
public final class WalClient implements AutoCloseable {

    /** Takes the ranges of {@link #fetchEntries}, on the thread that called it. */
    @FunctionalInterface
    public interface RangeHandler {
        /** Takes the bytes of the range with this index, all of them; the buffer is the handler's own. */
        void onRange(int index, ByteBuffer bytes);
    }

    private static final MethodDescriptor<CopyLogSegmentDataRequest, CopyLogSegmentDataResponse> COPY =
            WalServiceGrpc.getCopyLogSegmentDataMethod();
    /** A copy of at most SHORT_BYTES goes all at once, for which grpc must not know that it is a stream. */
    private static final MethodDescriptor<CopyLogSegmentDataRequest, CopyLogSegmentDataResponse> SHORT_COPY =
            COPY.toBuilder().setType(MethodDescriptor.MethodType.UNARY).build();

    private static final long SHORT_BYTES = 1 << 20;

    private static final Duration NO_FILES_AFTER_REFUSAL = Duration.ofMinutes(1);

    private final String daemon;
    private final WalChannel channel;
    private final Duration copyTimeout;
    private final Duration fetchTimeout;
    private final int chunkBytes;
    private final int maxMessageBytes;
    private final double traceSample;
    private final boolean local;
    private volatile long filesAgainNanos = System.nanoTime();

    /** Connects at the first call. Of {@code config}, the identity is not used: calls bring theirs. */
    public WalClient(GrpcRemoteWalStorageManagerConfig config) {
        daemon = "daemon at " + config.target();
        channel = new WalChannel(config.target(), config.maxMessageBytes());
        copyTimeout = config.copyTimeout();
        fetchTimeout = config.fetchTimeout();
        chunkBytes = config.chunkBytes();
        maxMessageBytes = config.maxMessageBytes();
        traceSample = config.traceSample();
        local = config.target().isUnix();
    }

    /**
     * Copies {@code sections}, described by {@code header}'s entries in the same order. A quorum of zones holds them
     * durably when it returns; after an exception they must be treated as not stored. A repeated copy is stored again,
     * with an extent of its own.
     *
     * @throws IllegalArgumentException if the header does not describe the sections, or exceeds max.message.bytes
     */
    public CopyLogSegmentDataResponse copy(CopyHeader header, List<? extends Section> sections)
            throws RemoteStorageException {
        check(header, sections);
        Trace trace = Trace.begin(traceSample);
        long bytes = 0;
        for (int i = 0; i < sections.size(); i++) {
            bytes += hasSource(header, i) ? 0 : sections.get(i).sizeInBytes();
        }
        try (var call = new BlockingCall<>(channel, bytes > SHORT_BYTES ? COPY : SHORT_COPY, copyTimeout, trace)) {
            boolean sent = new CopySender(call, chunkBytes).send(header, sections);
            if (sent) {
                call.halfClose();
            }
            CopyLogSegmentDataResponse response = call.only();
            if (!sent || response == null) {
                throw new RemoteStorageException(copying(header, trace) + ": it ended the call "
                        + (sent ? "without an answer" : "before it had everything"));
            }
            return response;
        } catch (StatusException e) {
            if (StatusMapping.isSource(e)) {
                filesAgainNanos = System.nanoTime() + NO_FILES_AFTER_REFUSAL.toNanos();
            }
            throw StatusMapping.exception(copying(header, trace), e);
        } catch (InterruptedException e) {
            throw StatusMapping.interrupted(copying(header, trace), e);
        } catch (IOException e) {
            throw new RemoteStorageException(copying(header, trace) + ": read the broker's log: " + e.getMessage(), e);
        }
    }

    /**
     * Whether a copy may name the files of its sections: the daemon is on this host, and has not refused to read one
     * for a minute.
     */
    boolean daemonReadsFiles() {
        return local && System.nanoTime() - filesAgainNanos >= 0;
    }

    /** Whether the daemon reads the section with this index itself. */
    static boolean hasSource(CopyHeader header, int index) {
        return header.getSourcesCount() > 0 && !header.getSources(index).getPath().isEmpty();
    }

    private String copying(CopyHeader header, Trace trace) {
        return daemon + ": copy of " + header.getEntriesCount() + " sections of broker " + header.getBrokerId() + " as "
                + Translation.uuid(header.getCombinedSegmentId()) + trace;
    }

    /**
     * Reads a range of one entry of {@code extent}. The stream ends after exactly the range's bytes, each chunk checked
     * by its CRC-32C; anything else is an IOException. It must be read to its end within fetch.timeout.ms, and closed,
     * which cancels what is still to come.
     *
     * @throws IllegalArgumentException if the range is negative, inverted or begins beyond the entry's end
     */
    public InputStream fetch(ByteString extent, EntryRange range) throws RemoteStorageException {
        Trace trace = Trace.begin(traceSample);
        String what = daemon + ": fetch of partition " + range.getPartition() + " of topic id "
                + Translation.uuid(range.getTopicId()) + trace;
        int length = Ranges.length(range);
        var request = FetchLogSegmentRequest.newBuilder().setExtent(extent).setRange(range).build();
        var call = start(WalServiceGrpc.getFetchLogSegmentMethod(), request, fetchTimeout, trace);
        FetchStream stream = new FetchStream(call, what, length);
        stream.awaitFirst();
        return stream;
    }

    /**
     * Reads ranges of many entries of {@code extent}, which costs the daemon one read of the store, and hands each to
     * {@code handler}, in order and each checked. After an exception the ranges handed over are good, the others lost.
     *
     * @throws IllegalArgumentException if a range is negative, inverted or begins beyond its entry's end
     */
    public void fetchEntries(ByteString extent, List<EntryRange> ranges, RangeHandler handler)
            throws RemoteStorageException {
        ranges.forEach(Ranges::length);
        Trace trace = Trace.begin(traceSample);
        String what = daemon + ": fetch of " + ranges.size() + " ranges of one extent" + trace;
        var request = FetchEntriesRequest.newBuilder().setExtent(extent).addAllRanges(ranges).build();
        try (var call = start(WalServiceGrpc.getFetchEntriesMethod(), request, fetchTimeout, trace)) {
            new EntriesReader(call, what).read(ranges, handler);
        } catch (StatusException e) {
            throw StatusMapping.exception(what, e);
        } catch (InterruptedException e) {
            throw StatusMapping.interrupted(what, e);
        }
    }

    /** Lists what is stored and hands each frame to {@code handler}, on this thread, all within {@code timeout}. */
    public void list(ListCombinedSegmentsRequest request, Duration timeout,
                     Consumer<ListCombinedSegmentsResponse> handler) throws RemoteStorageException {
        String what = daemon + ": list of combined segments";
        try (var call = start(WalServiceGrpc.getListCombinedSegmentsMethod(), request, timeout, Trace.NONE)) {
            for (var frame = call.next(); frame != null; frame = call.next()) {
                handler.accept(frame);
            }
        } catch (StatusException e) {
            throw StatusMapping.exception(what, e);
        } catch (InterruptedException e) {
            throw StatusMapping.interrupted(what, e);
        }
    }

    /** Tells how the daemon is, within {@code timeout}. */
    public GetStatusResponse status(Duration timeout) throws RemoteStorageException {
        String what = daemon + ": status of the daemon";
        var request = GetStatusRequest.getDefaultInstance();
        try (var call = start(WalServiceGrpc.getGetStatusMethod(), request, timeout, Trace.NONE)) {
            GetStatusResponse status = call.only();
            if (status == null) {
                throw new RemoteStorageException(what + ": it ended the call without an answer");
            }
            return status;
        } catch (StatusException e) {
            throw StatusMapping.exception(what, e);
        } catch (InterruptedException e) {
            throw StatusMapping.interrupted(what, e);
        }
    }

    /** Lets running calls finish for at most five seconds, then cancels them. Idempotent. */
    @Override
    public void close() {
        channel.close();
    }

    private <Q, R> BlockingCall<Q, R> start(MethodDescriptor<Q, R> method, Q request, Duration timeout, Trace trace) {
        BlockingCall<Q, R> call = new BlockingCall<>(channel, method, timeout, trace);
        call.ask(request);
        return call;
    }

    private void check(CopyHeader header, List<? extends Section> sections) {
        if (sections.isEmpty() || header.getEntriesCount() != sections.size()) {
            throw new IllegalArgumentException(header.getEntriesCount() + " entries describe " + sections.size()
                    + " sections");
        }
        for (int i = 0; i < sections.size(); i++) {
            int size = sections.get(i).sizeInBytes();
            if (size <= 0 || header.getEntries(i).getLength() != size) {
                throw new IllegalArgumentException("section " + i + " has " + size + " bytes and its entry says "
                        + Integer.toUnsignedLong(header.getEntries(i).getLength()));
            }
        }
        if (header.getSerializedSize() > maxMessageBytes - Long.BYTES) {
            throw new IllegalArgumentException("the header of " + sections.size() + " sections has "
                    + header.getSerializedSize() + " bytes, more than max.message.bytes = " + maxMessageBytes);
        }
    }
}
