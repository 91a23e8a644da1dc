package io.walbridge.shim;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import org.apache.kafka.common.config.ConfigException;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The connection to the daemon: one, on one thread of its own. It connects at the first call, and again by itself
 * after the daemon was away; while it cannot, calls fail at once, and the next one tries again at most a second later.
 */
final class WalChannel extends Channel implements AutoCloseable {

    private static final long RECONNECT_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int SEND_BUFFER_BYTES = 1 << 20;
    private static final long CLOSE_SECONDS = 5;
    private static final long THREAD_CLOSE_SECONDS = 1;

    private final EventLoopGroup thread;
    private final ManagedChannel channel;
    private final AtomicLong lastReconnect = new AtomicLong(System.nanoTime() - RECONNECT_NANOS);

    WalChannel(Target target, int maxMessageBytes) {
        DefaultThreadFactory threads = new DefaultThreadFactory("walbridge-io", true);
        NettyChannelBuilder builder;
        if (target.isUnix()) {
            if (!Epoll.isAvailable()) {
                throw new ConfigException(GrpcRemoteWalStorageManagerConfig.TARGET, target,
                        "a unix socket needs Linux, and a java.io.tmpdir from which libraries can be loaded: "
                                + Epoll.unavailabilityCause());
            }
            thread = new MultiThreadIoEventLoopGroup(1, threads, EpollIoHandler.newFactory());
            builder = NettyChannelBuilder.forAddress(new DomainSocketAddress(target.path()))
                    .channelType(EpollDomainSocketChannel.class, DomainSocketAddress.class)
                    // What grpc sets, a unix socket does not know, and netty warns of it at each connection.
                    .withOption(ChannelOption.SO_KEEPALIVE, null)
                    // What a broker copies every 10 ms fits into the socket at once; Linux gives what it allows.
                    .withOption(ChannelOption.SO_SNDBUF, SEND_BUFFER_BYTES)
                    // A path is not a valid :authority.
                    .overrideAuthority("localhost");
        } else {
            thread = new MultiThreadIoEventLoopGroup(1, threads, NioIoHandler.newFactory());
            builder = NettyChannelBuilder.forTarget(target.dns()).channelType(NioSocketChannel.class);
        }
        channel = builder
                .eventLoopGroup(thread)
                .usePlaintext()
                // What arrives is put into queues, which needs no thread of its own.
                .directExecutor()
                // Whoever calls the shim retries. A second place would multiply the attempts, and keep every chunk.
                .disableRetry()
                .maxInboundMessageSize(maxMessageBytes)
                .build();
    }

    @Override
    public <Q, R> ClientCall<Q, R> newCall(MethodDescriptor<Q, R> method, CallOptions options) {
        reconnect();
        return channel.newCall(method, options);
    }

    @Override
    public String authority() {
        return channel.authority();
    }

    /** Cuts grpc's backoff short, which grows to two minutes: the daemon is on this host, and back in seconds. */
    private void reconnect() {
        if (channel.getState(false) != ConnectivityState.TRANSIENT_FAILURE) {
            return;
        }
        long now = System.nanoTime();
        long last = lastReconnect.get();
        if (now - last >= RECONNECT_NANOS && lastReconnect.compareAndSet(last, now)) {
            channel.resetConnectBackoff();
        }
    }

    /** Lets running calls finish for some seconds, then cancels them. Idempotent. An interrupt cuts it short. */
    @Override
    public void close() {
        channel.shutdown();
        try {
            channel.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        channel.shutdownNow();
        thread.shutdownGracefully(0, THREAD_CLOSE_SECONDS, TimeUnit.SECONDS)
                .awaitUninterruptibly(THREAD_CLOSE_SECONDS, TimeUnit.SECONDS);
    }
}
