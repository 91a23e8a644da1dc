package io.walbridge.agent;

import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.grpc.stub.StreamObserver;
import io.walbridge.proto.v1.GetStatusRequest;
import io.walbridge.proto.v1.GetStatusResponse;
import io.walbridge.proto.v1.WalServiceGrpc;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The one jar that is installed: nothing in it may meet Kafka's own classes, and it must work as it is. */
@Timeout(60)
class ShadedJarIT {

    private static final Path JAR = Path.of("target/walbridge-agent.jar");

    private static final List<Pattern> ALLOWED = List.of(
            Pattern.compile("io/walbridge/.*"),
            Pattern.compile("org/apache/kafka/server/log/remote/storage/RemoteWal[A-Za-z$]*\\.class"),
            Pattern.compile("META-INF/native/libio_walbridge_shaded_[a-z0-9_]*\\.so"),
            Pattern.compile("META-INF/services/io\\.walbridge\\.shaded\\..*"),
            Pattern.compile("META-INF/(MANIFEST\\.MF|LICENSE.*|NOTICE.*|license/.*|licenses/.*)"));

    @TempDir
    Path dir;

    @Test
    void holdsNothingButItsOwnPackages() throws IOException {
        try (JarFile jar = new JarFile(JAR.toFile())) {
            List<String> foreign = jar.stream().filter(entry -> !entry.isDirectory()).map(JarEntry::getName)
                    .filter(name -> ALLOWED.stream().noneMatch(allowed -> allowed.matcher(name).matches())).toList();
            assertEquals(List.of(), foreign);
        }
    }

    @Test
    void manifestNamesTheAgent() throws IOException {
        try (JarFile jar = new JarFile(JAR.toFile())) {
            var attributes = jar.getManifest().getMainAttributes();
            assertEquals("io.walbridge.agent.Agent", attributes.getValue("Premain-Class"));
            assertEquals("true", attributes.getValue("Can-Retransform-Classes"));
            assertNotNull(jar.getEntry("io/walbridge/agent/Agent.class"));
        }
    }

    @Test
    void servicesNameClassesOfTheJar() throws IOException {
        try (JarFile jar = new JarFile(JAR.toFile())) {
            List<JarEntry> services = jar.stream().filter(entry -> !entry.isDirectory()
                    && entry.getName().startsWith("META-INF/services/")).toList();
            assertFalse(services.isEmpty());
            for (JarEntry service : services) {
                try (var lines = new BufferedReader(new InputStreamReader(jar.getInputStream(service)))) {
                    for (String name : lines.lines().filter(line -> !line.isBlank()).toList()) {
                        assertNotNull(jar.getEntry(name.replace('.', '/') + ".class"), service + " names " + name);
                    }
                }
            }
        }
    }

    /** The native library must be found under its relocated name, and grpc its relocated providers. */
    @Test
    void callsADaemonOverAUnixSocket() throws Exception {
        Path socket = dir.resolve("s");
        EventLoopGroup threads = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        Server server = NettyServerBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
                .channelType(EpollServerDomainSocketChannel.class)
                .bossEventLoopGroup(threads)
                .workerEventLoopGroup(threads)
                .withChildOption(ChannelOption.SO_KEEPALIVE, null)
                .addService(new StatusOnly())
                .build()
                .start();
        try (URLClassLoader broker = brokerWithTheJar()) {
            assertEquals("over the socket", version(broker, "unix://" + socket));
        } finally {
            server.shutdownNow();
            server.awaitTermination(5, TimeUnit.SECONDS);
            threads.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        }
    }

    /** What {@code WalClient.status} of the jar, and no other copy of it, is answered. */
    private static String version(ClassLoader jar, String target) throws Exception {
        Class<?> configClass = jar.loadClass("io.walbridge.shim.GrpcRemoteWalStorageManagerConfig");
        Class<?> clientClass = jar.loadClass("io.walbridge.shim.WalClient");
        assertTrue(clientClass.getProtectionDomain().getCodeSource().getLocation().getPath()
                .endsWith("walbridge-agent.jar"));
        Object config = configClass.getConstructor(Map.class)
                .newInstance(Map.of("target", target, "cluster.id", "c", "broker.id", 1));
        try (AutoCloseable client = (AutoCloseable) clientClass.getConstructor(configClass).newInstance(config)) {
            Object status = clientClass.getMethod("status", Duration.class).invoke(client, Duration.ofSeconds(20));
            return (String) status.getClass().getMethod("getVersion").invoke(status);
        } catch (InvocationTargetException e) {
            throw new AssertionError(e.getCause());
        }
    }

    /** A loader with what a broker has of it on its class path, and the jar. */
    private static URLClassLoader brokerWithTheJar() throws IOException {
        return new URLClassLoader(new URL[] {
            JAR.toUri().toURL(),
            CommonClientConfigs.class.getProtectionDomain().getCodeSource().getLocation(),
            RemoteStorageManager.class.getProtectionDomain().getCodeSource().getLocation(),
            LoggerFactory.class.getProtectionDomain().getCodeSource().getLocation(),
        }, ClassLoader.getPlatformClassLoader());
    }

    private static final class StatusOnly extends WalServiceGrpc.WalServiceImplBase {
        @Override
        public void getStatus(GetStatusRequest request, StreamObserver<GetStatusResponse> answer) {
            answer.onNext(GetStatusResponse.newBuilder().setVersion("over the socket").build());
            answer.onCompleted();
        }
    }
}
