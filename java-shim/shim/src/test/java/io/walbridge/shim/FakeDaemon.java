package io.walbridge.shim;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.rpc.ErrorInfo;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelFuture;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.walbridge.proto.frame.v1.Entry;
import io.walbridge.proto.v1.CopyHeader;
import io.walbridge.proto.v1.CopyLogSegmentDataRequest;
import io.walbridge.proto.v1.CopyLogSegmentDataResponse;
import io.walbridge.proto.v1.EntryLocation;
import io.walbridge.proto.v1.EntryRange;
import io.walbridge.proto.v1.FetchEntriesRequest;
import io.walbridge.proto.v1.FetchEntriesResponse;
import io.walbridge.proto.v1.FetchLogSegmentRequest;
import io.walbridge.proto.v1.FetchLogSegmentResponse;
import io.walbridge.proto.v1.GetStatusRequest;
import io.walbridge.proto.v1.GetStatusResponse;
import io.walbridge.proto.v1.ListCombinedSegmentsRequest;
import io.walbridge.proto.v1.ListCombinedSegmentsResponse;
import io.walbridge.proto.v1.Source;
import io.walbridge.proto.v1.WalServiceGrpc;

import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.zip.CRC32C;

/** A daemon on a unix socket that keeps what it is given in memory, and misbehaves as told. */
final class FakeDaemon implements AutoCloseable {

    /** Where the first entry lies in each extent: not at its beginning, as in a real frame. */
    static final int FIRST_POSITION = 77;

    /** Kept, so that its level is: streams that break are what tests are about, and not worth a warning each. */
    private static final Logger GRPC = Logger.getLogger("io.grpc");

    static {
        GRPC.setLevel(Level.OFF);
    }

    final Path socket;
    final Faults faults = new Faults();
    final Map<ByteString, ByteString> extents = new ConcurrentHashMap<>();
    final AtomicInteger chunks = new AtomicInteger();
    final AtomicLong chunkBytes = new AtomicLong();
    final AtomicLong bytesSent = new AtomicLong();
    /** Counted down when a client has cancelled a fetch. */
    volatile CountDownLatch cancelled = new CountDownLatch(1);
    volatile CopyHeader lastHeader;
    /** The traceparent of each call, in their order; "" where one had none. */
    final Queue<String> traces = new ConcurrentLinkedQueue<>();

    private final Threads threads = new Threads();
    private final Server server;

    /** What the daemon does wrong. Set before the call. */
    static final class Faults {
        volatile StatusRuntimeException status;
        /** The message of a fetch from which on the fault is; messages count from 0. */
        volatile int from;
        volatile boolean wrongCrc;
        volatile boolean shortByOne;
        volatile boolean longByOne;
        volatile boolean hang;
        volatile boolean die;
        /** Copies are taken and dropped. */
        volatile boolean discard;
        volatile boolean dontRead;
        volatile boolean wrongLocation;
        /** It cannot read the broker's files. */
        volatile boolean noFiles;
        volatile int chunkBytes = 10_000;
    }

    FakeDaemon(Path socket) throws IOException {
        this.socket = socket;
        Files.deleteIfExists(socket);
        server = NettyServerBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
                .channelType(EpollServerDomainSocketChannel.class)
                .bossEventLoopGroup(threads)
                .workerEventLoopGroup(threads)
                .withChildOption(ChannelOption.SO_KEEPALIVE, null)
                .addService(new Service())
                .intercept(new ServerInterceptor() {
                    @Override
                    public <Q, R> ServerCall.Listener<Q> interceptCall(ServerCall<Q, R> call, Metadata headers,
                                                                       ServerCallHandler<Q, R> next) {
                        String parent = headers.get(Trace.PARENT);
                        traces.add(parent == null ? "" : parent);
                        return next.startCall(call, headers);
                    }
                })
                .build()
                .start();
    }

    /** An error as the daemon sends it, with an ErrorInfo. */
    static StatusRuntimeException error(io.grpc.Status.Code code, String reason, String message) {
        return StatusProto.toStatusRuntimeException(com.google.rpc.Status.newBuilder()
                .setCode(code.value())
                .setMessage(message)
                .addDetails(Any.pack(ErrorInfo.newBuilder().setDomain("walbridge").setReason(reason).build()))
                .build());
    }

    static int crc(ByteString bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.toByteArray());
        return (int) crc.getValue();
    }

    @Override
    public void close() {
        die();
        server.shutdownNow();
        try {
            server.awaitTermination(5, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        threads.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }

    /** Breaks the connections as the death of a process does, with no word to the clients. */
    private void die() {
        // Past the pipeline, which would say goodbye and wait for the streams.
        threads.connections.forEach(c -> c.eventLoop().execute(() -> c.unsafe().close(c.voidPromise())));
    }

    /** The one place where grpc lets us see its connections. */
    private static final class Threads extends MultiThreadIoEventLoopGroup {
        private final Queue<Channel> connections = new ConcurrentLinkedQueue<>();

        Threads() {
            super(1, EpollIoHandler.newFactory());
        }

        @Override
        public ChannelFuture register(Channel channel) {
            if (channel instanceof EpollDomainSocketChannel) {
                connections.add(channel);
            }
            return super.register(channel);
        }
    }

    private final class Service extends WalServiceGrpc.WalServiceImplBase {
        @Override
        public StreamObserver<CopyLogSegmentDataRequest> copyLogSegmentData(
                StreamObserver<CopyLogSegmentDataResponse> observer) {
            var answer = (ServerCallStreamObserver<CopyLogSegmentDataResponse>) observer;
            answer.setOnCancelHandler(() -> cancelled.countDown());
            if (faults.dontRead) {
                answer.disableAutoRequest();
            }
            return new Copy(answer);
        }

        @Override
        public void fetchLogSegment(FetchLogSegmentRequest request, StreamObserver<FetchLogSegmentResponse> observer) {
            var answer = (ServerCallStreamObserver<FetchLogSegmentResponse>) observer;
            answer.setOnCancelHandler(() -> cancelled.countDown());
            if (faults.status != null && faults.from == 0) {
                answer.onError(faults.status);
                return;
            }
            ByteString stored = extents.get(request.getExtent());
            if (stored == null) {
                answer.onError(error(io.grpc.Status.Code.NOT_FOUND, "NOT_FOUND", "no such object"));
                return;
            }
            ByteString bytes = range(stored, request.getRange());
            if (faults.shortByOne) {
                bytes = bytes.substring(0, bytes.size() - 1);
            }
            if (faults.longByOne) {
                bytes = bytes.concat(ByteString.copyFromUtf8("x"));
            }
            new Chunks(bytes, answer).start();
        }

        @Override
        public void fetchEntries(FetchEntriesRequest request, StreamObserver<FetchEntriesResponse> answer) {
            if (faults.status != null) {
                answer.onError(faults.status);
                return;
            }
            ByteString stored = extents.get(request.getExtent());
            int last = request.getRangesCount() - (faults.shortByOne ? 1 : 0);
            for (int i = 0; i < last; i++) {
                ByteString bytes = range(stored, request.getRanges(i));
                for (int at = 0; at < bytes.size(); at += faults.chunkBytes) {
                    ByteString chunk = bytes.substring(at, Math.min(bytes.size(), at + faults.chunkBytes));
                    answer.onNext(FetchEntriesResponse.newBuilder().setRange(i).setChunk(chunk)
                            .setCrc32C(crc(chunk) + (faults.wrongCrc ? 1 : 0)).build());
                }
            }
            if (faults.longByOne) {
                answer.onNext(FetchEntriesResponse.newBuilder().setRange(last).build());
            }
            answer.onCompleted();
        }

        @Override
        public void listCombinedSegments(ListCombinedSegmentsRequest request,
                                         StreamObserver<ListCombinedSegmentsResponse> answer) {
            extents.keySet().forEach(extent ->
                    answer.onNext(ListCombinedSegmentsResponse.newBuilder().setExtent(extent).build()));
            answer.onCompleted();
        }

        @Override
        public void getStatus(GetStatusRequest request, StreamObserver<GetStatusResponse> answer) {
            answer.onNext(GetStatusResponse.newBuilder().setVersion("fake").setHealthy(true).build());
            answer.onCompleted();
        }

        private ByteString range(ByteString stored, EntryRange range) {
            int start = range.getEntry().getPosition() + (int) range.getStartPosition();
            long end = Math.min(range.getEndPosition(), range.getEntry().getLength() - 1);
            return stored.substring(start, range.getEntry().getPosition() + (int) end + 1);
        }
    }

    /** Takes one copy, with its own idea of what a whole one is. */
    private final class Copy implements StreamObserver<CopyLogSegmentDataRequest> {
        private final ServerCallStreamObserver<CopyLogSegmentDataResponse> answer;
        private final ByteString.Output bytes = ByteString.newOutput();
        private CopyHeader header;
        private List<Integer> crcs;

        Copy(ServerCallStreamObserver<CopyLogSegmentDataResponse> answer) {
            this.answer = answer;
        }

        @Override
        public void onNext(CopyLogSegmentDataRequest request) {
            switch (request.getPayloadCase()) {
                case HEADER -> {
                    header = request.getHeader();
                    lastHeader = header;
                    if (faults.status != null) {
                        answer.onError(faults.status);
                    }
                }
                case CHUNK -> {
                    chunks.incrementAndGet();
                    chunkBytes.addAndGet(request.getChunk().size());
                    if (!faults.discard) {
                        write(bytes, request.getChunk());
                    }
                }
                case TRAILER -> crcs = request.getTrailer().getCrc32CList();
                default -> throw new AssertionError(request);
            }
        }

        @Override
        public void onError(Throwable error) {
        }

        @Override
        public void onCompleted() {
            if (faults.status != null || faults.hang) {
                return;
            }
            if (crcs == null) {
                answer.onError(error(io.grpc.Status.Code.INVALID_ARGUMENT, "INVALID", "no trailer"));
                return;
            }
            ByteString extent = extent();
            var response = CopyLogSegmentDataResponse.newBuilder()
                    .setCombinedSegmentId(header.getCombinedSegmentId()).setExtent(extent);
            int position = FIRST_POSITION;
            ByteString sent = bytes.toByteString();
            ByteString stored = ByteString.EMPTY;
            int at = 0;
            int chunked = 0;
            for (int i = 0; i < header.getEntriesCount(); i++) {
                Entry entry = header.getEntries(i);
                if (WalClient.hasSource(header, i)) {
                    if (faults.noFiles) {
                        answer.onError(error(io.grpc.Status.Code.FAILED_PRECONDITION, "SOURCE", "section " + i));
                        return;
                    }
                    stored = stored.concat(read(header.getSources(i), entry.getLength()));
                } else if (!faults.discard) {
                    ByteString section = sent.substring(at, at + entry.getLength());
                    if (crc(section) != crcs.get(chunked)) {
                        answer.onError(error(io.grpc.Status.Code.DATA_LOSS, "CHECKSUM", "section " + i));
                        return;
                    }
                    stored = stored.concat(section);
                    at += entry.getLength();
                    chunked++;
                }
                int length = entry.getLength() - (faults.wrongLocation ? 1 : 0);
                response.addEntries(EntryLocation.newBuilder().setPosition(position).setLength(length));
                position += entry.getLength();
            }
            extents.put(extent, ByteString.copyFrom(new byte[FIRST_POSITION]).concat(stored));
            answer.onNext(response.build());
            answer.onCompleted();
        }

        private ByteString read(Source source, int length) {
            try (var file = new RandomAccessFile(source.getPath(), "r")) {
                byte[] section = new byte[length];
                file.seek(source.getPosition());
                file.readFully(section);
                return ByteString.copyFrom(section);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private ByteString extent() {
            byte[] extent = new byte[40];
            Arrays.fill(extent, (byte) 'e');
            ByteBuffer.wrap(extent).putLong(extents.size());
            return ByteString.copyFrom(extent);
        }
    }

    /** Sends one fetch's bytes as fast as the client takes them. */
    private final class Chunks {
        private final ByteString bytes;
        private final ServerCallStreamObserver<FetchLogSegmentResponse> answer;
        private int sent;
        private int at;
        private boolean over;

        Chunks(ByteString bytes, ServerCallStreamObserver<FetchLogSegmentResponse> answer) {
            this.bytes = bytes;
            this.answer = answer;
        }

        void start() {
            answer.setOnReadyHandler(this::more);
            more();
        }

        private void more() {
            while (!over && answer.isReady() && at < bytes.size()) {
                boolean faulty = sent >= faults.from;
                if (faulty && faults.hang) {
                    return;
                }
                if (faulty && faults.die) {
                    over = true;
                    die();
                    return;
                }
                if (faulty && faults.status != null) {
                    over = true;
                    answer.onError(faults.status);
                    return;
                }
                ByteString chunk = bytes.substring(at, Math.min(bytes.size(), at + faults.chunkBytes));
                answer.onNext(FetchLogSegmentResponse.newBuilder().setChunk(chunk)
                        .setCrc32C(crc(chunk) + (faulty && faults.wrongCrc ? 1 : 0)).build());
                at += chunk.size();
                bytesSent.addAndGet(chunk.size());
                sent++;
            }
            if (!over && at == bytes.size()) {
                over = true;
                answer.onCompleted();
            }
        }
    }

    private static void write(OutputStream target, ByteString bytes) {
        try {
            bytes.writeTo(target);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
