// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Range;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.common.config.ConfigException;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** The agent's part of the broker's properties: the keys of KIP-1176, and a few that follow their naming. */
final class RemoteWalManagerConfig extends AbstractConfig {
    static final String ENABLE = "remote.log.wal.storage.system.enable";
    static final String CLASS_NAME = "remote.log.wal.storage.manager.class.name";
    static final String CLASS_PATH = "remote.log.wal.storage.manager.class.path";
    static final String IMPL_PREFIX = "remote.log.wal.storage.manager.impl.prefix";
    static final String TOPICS = "remote.log.wal.topics";
    static final String FOLLOWER_PROOF_TOPICS = "remote.log.wal.follower.proof.topics";
    static final String THREADS = "remote.wal.log.manager.thread.pool.size";
    static final String COMBINER_THREADS = "remote.wal.log.manager.combiner.thread.pool.size";
    static final String COMBINER_QUEUE = "remote.wal.log.manager.combiner.queue.size";
    static final String COMBINER_MAX_BYTES = "remote.wal.log.manager.combiner.max.bytes";
    static final String BUFFER_BYTES = "remote.wal.log.manager.buffer.bytes";
    static final String MAX_BACKLOG_BYTES = "remote.wal.log.manager.max.backlog.bytes";
    static final String COPY_FROM_FILES = "remote.wal.log.manager.copy.from.files";
    static final String LINGER_MS = "remote.wal.log.manager.linger.ms";
    static final String SHUTDOWN_TIMEOUT_MS = "remote.wal.log.manager.shutdown.timeout.ms";

    static final ConfigDef DEFINITION = new ConfigDef()
            .define(ENABLE, Type.BOOLEAN, false, Importance.HIGH,
                    "Whether this broker stores active log segments in the WAL.")
            .define(TOPICS, Type.LIST, List.of(), Importance.HIGH,
                    "The topics that go to the WAL: regular expressions, one of which must match the whole name. "
                            + "Internal and compacted topics are refused.")
            .define(FOLLOWER_PROOF_TOPICS, Type.LIST, List.of(), Importance.LOW,
                    "Experimental, for tests: topics of those above whose followers read them from the WAL, where both "
                            + "brokers name them here. Regular expressions as above; read at the broker's start.")
            .define(CLASS_NAME, Type.STRING, "io.walbridge.shim.GrpcRemoteWalStorageManager",
                    new ConfigDef.NonEmptyString(), Importance.MEDIUM, "The RemoteWalStorageManager implementation.")
            .define(CLASS_PATH, Type.STRING, "", Importance.MEDIUM,
                    "Where that class and what it needs are: jars and directories, with a wildcard as in java -cp. "
                            + "Empty where the agent's jar or the broker's class path has them.")
            .define(IMPL_PREFIX, Type.STRING, "rwsm.config.", new ConfigDef.NonEmptyString(), Importance.MEDIUM,
                    "The prefix of the keys that are passed to that class, without it.")
            .define(THREADS, Type.INT, 2, Range.between(1, 64), Importance.MEDIUM,
                    "Threads that read logs (RLMWalTask).")
            .define(COMBINER_THREADS, Type.INT, 8, Range.between(1, 256), Importance.MEDIUM,
                    "Threads that copy to the WAL (RLMWalCombinerTask): the most copies in flight.")
            .define(COMBINER_QUEUE, Type.INT, 10_000, Range.atLeast(1), Importance.LOW,
                    "Sections that may wait for a combiner.")
            .define(COMBINER_MAX_BYTES, Type.INT, 4 * 1024 * 1024, Range.atLeast(1), Importance.MEDIUM,
                    "The most bytes of one copy; a section that is larger goes alone.")
            .define(BUFFER_BYTES, Type.LONG, 64L * 1024 * 1024, Range.atLeast(4L * RLMWalTask.READ_BYTES),
                    Importance.MEDIUM, "The most bytes in memory: read from logs and not yet stored. Beyond it nothing "
                            + "is read, and waits in the log.")
            .define(MAX_BACKLOG_BYTES, Type.LONG, 1024L * 1024 * 1024, Range.atLeast(0), Importance.MEDIUM,
                    "The most bytes that wait in the logs of replicated partitions, of all together. Beyond it those "
                            + "with most skip ahead to their log's end.")
            .define(COPY_FROM_FILES, Type.BOOLEAN, true, Importance.MEDIUM,
                    "Whether the daemon reads what logs get from their files itself, which saves the broker most of "
                            + "the work. Where it cannot, the broker reads and sends the bytes, and tries again later.")
            .define(LINGER_MS, Type.LONG, 10L, Range.between(1, 1_000), Importance.MEDIUM,
                    "How often the logs that grow are read: what they got meanwhile goes as one copy. It counts "
                            + "towards the daemon's linger.")
            .define(SHUTDOWN_TIMEOUT_MS, Type.LONG, 3_000L, Range.between(0, 60_000), Importance.LOW,
                    "How long the broker's shutdown waits, at most, for what its logs hold to be stored. It waits for "
                            + "nothing while copies fail.");

    private static final List<String> NAMESPACES = List.of("remote.log.wal.", "remote.wal.log.manager.");

    private final List<Pattern> topics;
    private final List<Pattern> followerProofTopics;

    /**
     * @param broker all of the broker's properties
     * @throws ConfigException naming the key, where a value cannot be used or a key of ours does not exist
     */
    RemoteWalManagerConfig(Map<String, ?> broker) {
        super(DEFINITION, broker, false);
        String prefix = getString(IMPL_PREFIX);
        for (String key : broker.keySet()) {
            if (NAMESPACES.stream().anyMatch(key::startsWith) && !key.startsWith(prefix)
                    && !DEFINITION.names().contains(key)) {
                throw new ConfigException("Unknown configuration " + key);
            }
        }
        topics = compiled(TOPICS);
        followerProofTopics = compiled(FOLLOWER_PROOF_TOPICS);
    }

    boolean enabled() {
        return getBoolean(ENABLE);
    }

    List<Pattern> topics() {
        return topics;
    }

    /** The same, as they were written. */
    List<String> topicNames() {
        return getList(TOPICS);
    }

    /** The topics whose followers read them from the WAL; by default none. */
    List<Pattern> followerProofTopics() {
        return followerProofTopics;
    }

    /** The keys for the storage manager. */
    Map<String, Object> storageManagerConfig() {
        return originalsWithPrefix(getString(IMPL_PREFIX));
    }

    private List<Pattern> compiled(String key) {
        return getList(key).stream().map(expression -> compiled(key, expression)).toList();
    }

    private static Pattern compiled(String key, String expression) {
        try {
            return Pattern.compile(expression);
        } catch (PatternSyntaxException e) {
            throw new ConfigException(key, expression, e.getMessage());
        }
    }
}
