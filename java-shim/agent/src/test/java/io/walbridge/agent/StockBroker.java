// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.Uuid;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import javax.management.JMX;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** A stock broker of some version, alone in its cluster, with the agent in its command line. */
final class StockBroker implements AutoCloseable {
    private static final long START_SECONDS = 60;
    private static final long STOP_SECONDS = 60;

    private final Path directory;
    private final Path properties;
    private final Path log;
    private final int port;
    private final int jmxPort;
    private final List<String> classPath = new ArrayList<>();
    private Process process;

    /** @param directory a new one, for all that the broker writes */
    StockBroker(StockKafka kafka, Path directory, Map<String, String> config) throws Exception {
        this.directory = directory;
        log = directory.resolve("broker.log");
        properties = directory.resolve("server.properties");
        port = freePort();
        jmxPort = freePort();
        classPath.add(kafka.libs().toAbsolutePath() + "/*");
        write(config);
        run("kafka.tools.StorageTool", "format", "-t", Uuid.randomUuid().toString(), "-c", properties.toString());
    }

    /** Puts a directory of classes before Kafka's own. */
    void patch(Path classes) {
        classPath.add(0, classes.toString());
    }

    String bootstrap() {
        return "127.0.0.1:" + port;
    }

    Path logDir() {
        return directory.resolve("data");
    }

    List<String> logLines(String containing) throws IOException {
        return Files.readAllLines(log).stream().filter(line -> line.contains(containing)).toList();
    }

    /** Starts the broker, and returns when it serves. */
    void start() throws Exception {
        process = new ProcessBuilder(command("-javaagent:" + AgentJarIT.JAR.toAbsolutePath(),
                "-Dcom.sun.management.jmxremote.port=" + jmxPort, "-Dcom.sun.management.jmxremote.authenticate=false",
                "-Dcom.sun.management.jmxremote.ssl=false", "-Djava.rmi.server.hostname=127.0.0.1",
                "kafka.Kafka", properties.toString())).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile())).start();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (!serves()) {
            if (!process.isAlive() || System.nanoTime() - deadline >= 0) {
                throw new IOException("the broker does not serve:\n" + String.join("\n", Files.readAllLines(log)));
            }
        }
    }

    /** What the agent says of itself, over JMX. */
    <T> T ask(Function<RemoteWalManagerMXBean, T> question) throws Exception {
        var url = new JMXServiceURL("service:jmx:rmi:///jndi/rmi://127.0.0.1:" + jmxPort + "/jmxrmi");
        try (JMXConnector connector = JMXConnectorFactory.connect(url)) {
            return question.apply(JMX.newMXBeanProxy(connector.getMBeanServerConnection(),
                    new ObjectName("walbridge:type=RemoteWalManager"), RemoteWalManagerMXBean.class));
        }
    }

    void stop() throws InterruptedException {
        process.destroy();
        if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the broker does not stop");
        }
    }

    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor(STOP_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void close() throws InterruptedException {
        if (process != null) {
            kill();
        }
    }

    private boolean serves() throws InterruptedException {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap(), "request.timeout.ms", "2000",
                "default.api.timeout.ms", "2000"))) {
            return !admin.describeCluster().nodes().get().isEmpty();
        } catch (ExecutionException e) {
            return false;
        }
    }

    private void write(Map<String, String> config) throws IOException {
        int controller = freePort();
        Properties all = new Properties();
        all.putAll(Map.of(
                "process.roles", "broker,controller",
                "node.id", "1",
                "listeners", "PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controller,
                "controller.listener.names", "CONTROLLER",
                "controller.quorum.voters", "1@127.0.0.1:" + controller,
                "log.dirs", logDir().toString(),
                "offsets.topic.replication.factor", "1",
                "transaction.state.log.replication.factor", "1",
                "transaction.state.log.min.isr", "1"));
        all.putAll(config);
        try (var writer = Files.newBufferedWriter(properties)) {
            all.store(writer, null);
        }
        Files.writeString(directory.resolve("log4j2.xml"), """
                <Configuration status="warn">
                  <Appenders><Console name="out"><PatternLayout pattern="%d %p %c [%t] %m%n"/></Console></Appenders>
                  <Loggers><Root level="info"><AppenderRef ref="out"/></Root></Loggers>
                </Configuration>
                """);
    }

    private void run(String... mainAndArguments) throws Exception {
        Process tool = new ProcessBuilder(command(mainAndArguments)).redirectErrorStream(true).start();
        String output = new String(tool.getInputStream().readAllBytes());
        if (!tool.waitFor(START_SECONDS, TimeUnit.SECONDS) || tool.exitValue() != 0) {
            throw new IOException(String.join(" ", mainAndArguments) + ": " + output);
        }
    }

    private List<String> command(String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx384m", "-Xms384m",
                "-XX:+UseSerialGC", "-Dlog4j2.configurationFile=" + directory.resolve("log4j2.xml"),
                "-cp", String.join(File.pathSeparator, classPath)));
        command.addAll(List.of(arguments));
        return command;
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
