// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import net.bytebuddy.ByteBuddy;
import net.bytebuddy.asm.MemberRemoval;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.matcher.ElementMatchers;
import net.bytebuddy.pool.TypePool;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The agent in a real stock broker. Runs with -Dbroker.it=VERSION, for a version that the cache of the integration
 * tests has.
 */
@Timeout(600)
class BrokerIT {
    private static final int PARTITIONS = 3;
    private static final int RECORDS = 5_000;

    private final Random random = Seed.random();

    @TempDir
    Path directory;
    private StockKafka kafka;

    @BeforeEach
    void findKafka() {
        String version = System.getProperty("broker.it");
        assumeTrue(version != null, "-Dbroker.it is not set");
        kafka = StockKafka.cached().stream().filter(cached -> cached.version().equals(version)).findAny().orElseThrow();
    }

    @Test
    void everyByteOfTheLogArrives() throws Exception {
        try (StockBroker broker = broker(Map.of())) {
            broker.start();
            create(broker, "it-records", Map.of("segment.bytes", "1048576"));
            create(broker, "it-compacted", Map.of("cleanup.policy", "compact"));
            create(broker, "other", Map.of());
            for (String compression : List.of("none", "lz4", "zstd", "gzip", "snappy")) {
                produce(broker, "it-records", Map.of("compression.type", compression), false);
            }
            produce(broker, "it-records", Map.of("transactional.id", "t"), false);
            produce(broker, "it-records", Map.of("transactional.id", "t"), true);
            produce(broker, "it-compacted", Map.of(), false);
            produce(broker, "other", Map.of(), false);
            assertEquals(logEnds(broker, "it-records"), awaitNoLag(broker));
            broker.stop();
            assertStored(broker, "it-records");

            broker.start();
            produce(broker, "it-records", Map.of("acks", "1"), false);
            broker.kill();
            broker.start();
            produce(broker, "it-records", Map.of(), false);
            broker.stop();
            assertStored(broker, "it-records");

            assertEquals(List.of(), broker.logLines("ERROR io.walbridge"));
            assertEquals(3, broker.logLines("it-compacted does not go to the WAL").size(), "one line for each start");
            assertTrue(stored().keySet().stream().allMatch(partition -> partition.startsWith("it-records-")));
        }
    }

    @Test
    void isOffByDefault() throws Exception {
        assertOff(Map.of("remote.log.wal.storage.system.enable", "false"),
                "Walbridge is off: remote.log.wal.storage.system.enable is not true");
    }

    @Test
    void aWrongValueTurnsItOff() throws Exception {
        assertOff(Map.of("remote.wal.log.manager.thread.pool.size", "none"),
                "Walbridge is off: Invalid value none for configuration remote.wal.log.manager.thread.pool.size");
    }

    @Test
    void aStorageThatCannotBeLoadedTurnsItOff() throws Exception {
        assertOff(Map.of("remote.log.wal.storage.manager.class.name", "no.such.Storage"),
                "Walbridge is off: Invalid value no.such.Storage for configuration");
    }

    @Test
    void aKafkaThatLacksAHookTurnsItOff() throws Exception {
        try (StockBroker broker = broker(Map.of())) {
            Path patch = directory.resolve("patch");
            withoutMethod("org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache", "epochWithOffsets", patch);
            broker.patch(patch);
            assertOff(broker, "Walbridge is off: Kafka " + kafka.version() + " lacks the hook "
                    + "org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache.epochWithOffsets()");
        }
    }

    private void assertOff(Map<String, String> config, String line) throws Exception {
        try (StockBroker broker = broker(config)) {
            assertOff(broker, line);
        }
    }

    /** There is the one line, the broker serves, and nothing is stored. */
    private void assertOff(StockBroker broker, String line) throws Exception {
        broker.start();
        create(broker, "it-records", Map.of());
        produce(broker, "it-records", Map.of(), false);
        broker.stop();
        assertEquals(1, broker.logLines(line).size(), broker.logLines("Walbridge").toString());
        assertEquals(1, broker.logLines("Walbridge").size(), broker.logLines("Walbridge").toString());
        assertEquals(Map.of(), stored());
    }

    private StockBroker broker(Map<String, String> config) throws Exception {
        Map<String, String> all = new HashMap<>(Map.of(
                "remote.log.wal.storage.system.enable", "true",
                "remote.log.wal.topics", "it-.*",
                "remote.log.wal.storage.manager.class.name", FileStorage.class.getName(),
                "remote.log.wal.storage.manager.class.path", Path.of("target", "test-classes").toAbsolutePath() + "/",
                "rwsm.config.file", storedFile().toString()));
        all.putAll(config);
        return new StockBroker(kafka, directory, all);
    }

    private static void create(StockBroker broker, String topic, Map<String, String> config) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrap()))) {
            admin.createTopics(List.of(new NewTopic(topic, Optional.of(PARTITIONS), Optional.empty()).configs(config)))
                    .all().get();
        }
    }

    /** Sends records of many sizes. */
    private void produce(StockBroker broker, String topic, Map<String, String> config, boolean abort) {
        Properties properties = new Properties();
        properties.putAll(config);
        properties.put("bootstrap.servers", broker.bootstrap());
        properties.put("linger.ms", "1");
        try (var producer = new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer())) {
            boolean transaction = config.containsKey("transactional.id");
            if (transaction) {
                producer.initTransactions();
                producer.beginTransaction();
            }
            for (int i = 0; i < RECORDS; i++) {
                byte[] key = String.valueOf(i).getBytes();
                byte[] value = new byte[random.nextInt(100) == 0 ? random.nextInt(50_000) : random.nextInt(300)];
                random.nextBytes(value);
                producer.send(new ProducerRecord<>(topic, key, value));
            }
            producer.flush();
            if (transaction && abort) {
                producer.abortTransaction();
            } else if (transaction) {
                producer.commitTransaction();
            }
        }
    }

    /** The WAL end of every partition that goes to the WAL, by its name. */
    private static Map<String, Long> awaitNoLag(StockBroker broker) throws Exception {
        long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (broker.ask(RemoteWalManagerMXBean::getLagRecords) > 0) {
            assertTrue(System.nanoTime() < deadline, "the WAL does not catch up");
        }
        return broker.ask(RemoteWalManagerMXBean::getWalEnds);
    }

    private static Map<String, Long> logEnds(StockBroker broker, String topic) throws Exception {
        Map<TopicPartition, OffsetSpec> partitions = new HashMap<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            partitions.put(new TopicPartition(topic, partition), OffsetSpec.latest());
        }
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrap()))) {
            Map<String, Long> ends = new HashMap<>();
            admin.listOffsets(partitions).all().get()
                    .forEach((partition, end) -> ends.put(partition.toString(), end.offset()));
            return ends;
        }
    }

    /** The batches that were stored, in order and without duplicates, are the segment files, byte for byte. */
    private void assertStored(StockBroker broker, String topic) throws IOException {
        Map<String, TreeMap<Long, byte[]>> stored = stored();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            ByteArrayOutputStream batches = new ByteArrayOutputStream();
            stored.get(topic + "-" + partition).values().forEach(batches::writeBytes);
            assertEquals(ByteBuffer.wrap(segments(broker.logDir().resolve(topic + "-" + partition))),
                    ByteBuffer.wrap(batches.toByteArray()), topic + "-" + partition);
        }
    }

    private static byte[] segments(Path directory) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.filter(path -> path.toString().endsWith(".log")).sorted().toList()) {
                bytes.writeBytes(Files.readAllBytes(file));
            }
        }
        return bytes.toByteArray();
    }

    /** What FileStorage was given: by partition, every batch by its base offset. */
    private Map<String, TreeMap<Long, byte[]>> stored() throws IOException {
        Map<String, TreeMap<Long, byte[]>> stored = new HashMap<>();
        if (!Files.exists(storedFile())) {
            return stored;
        }
        try (DataInputStream in = new DataInputStream(new FileInputStream(storedFile().toFile()))) {
            while (true) {
                String name = in.readUTF();
                if (!name.matches(".*-\\d+")) {
                    continue; // The cluster's id, with which every start of the broker begins.
                }
                long startOffset = in.readLong();
                long endOffset = in.readLong();
                assertTrue(in.readInt() >= 0, "leader epoch");
                assertTrue(in.readLong() > 0, "broker epoch");
                assertEquals(22, in.readUTF().length(), "log directory id");
                assertTrue(in.readInt() > 0, "segment.bytes");
                ByteBuffer section = ByteBuffer.wrap(in.readNBytes(in.readInt()));
                List<RecordBatches.Run> runs = RecordBatches.split(section);
                assertEquals(1, runs.size());
                assertEquals(startOffset, runs.get(0).baseOffset());
                assertEquals(endOffset, runs.get(0).lastOffset());
                addBatches(section, stored.computeIfAbsent(name, any -> new TreeMap<>()));
            }
        } catch (EOFException e) {
            return stored;
        }
    }

    private static void addBatches(ByteBuffer section, TreeMap<Long, byte[]> batches) {
        while (section.hasRemaining()) {
            long baseOffset = section.getLong(section.position());
            byte[] batch = new byte[section.getInt(section.position() + 8) + 12];
            section.get(batch);
            byte[] before = batches.put(baseOffset, batch);
            assertTrue(before == null || ByteBuffer.wrap(before).equals(ByteBuffer.wrap(batch)),
                    "two batches at offset " + baseOffset);
        }
    }

    private Path storedFile() {
        return directory.resolve("stored");
    }

    private void withoutMethod(String className, String method, Path directory) throws IOException {
        try (var loader = kafka.loader()) {
            ClassFileLocator locator = ClassFileLocator.ForClassLoader.of(loader);
            TypeDescription type = TypePool.Default.of(locator).describe(className).resolve();
            new ByteBuddy().redefine(type, locator)
                    .visit(new MemberRemoval().stripMethods(ElementMatchers.named(method)))
                    .make().saveIn(directory.toFile());
        }
    }
}
