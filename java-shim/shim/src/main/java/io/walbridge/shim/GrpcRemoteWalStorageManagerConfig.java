package io.walbridge.shim;

import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.common.config.ConfigException;

import java.time.Duration;
import java.util.Map;
import java.util.TreeSet;

/**
 * The settings of {@link GrpcRemoteWalStorageManager} and of {@link WalClient}. In a broker's configuration they stand
 * under {@code remote.log.wal.storage.manager.impl.prefix}; {@code cluster.id} and {@code broker.id} the broker adds.
 */
public final class GrpcRemoteWalStorageManagerConfig extends AbstractConfig {

    public static final String TARGET = "target";
    public static final String COPY_TIMEOUT_MS = "copy.timeout.ms";
    public static final String FETCH_TIMEOUT_MS = "fetch.timeout.ms";
    public static final String CHUNK_BYTES = "chunk.bytes";
    public static final String MAX_MESSAGE_BYTES = "max.message.bytes";
    public static final String TRACE_SAMPLE = "trace.sample";
    public static final String CLUSTER_ID = "cluster.id";
    public static final String BROKER_ID = "broker.id";

    /** What a chunk's message has besides the chunk, generously. */
    private static final int CHUNK_OVERHEAD = 1024;

    private static final ConfigDef CONFIG = new ConfigDef()
            .define(TARGET, Type.STRING, "unix:///run/walbridge/walbridge.sock",
                    ConfigDef.LambdaValidator.with(GrpcRemoteWalStorageManagerConfig::checkTarget,
                            () -> Target.FORMS),
                    Importance.HIGH,
                    "Where the daemon listens: " + Target.FORMS + ". The connection is not encrypted.")
            .define(COPY_TIMEOUT_MS, Type.LONG, 10_000L, ConfigDef.Range.between(1, 3_600_000), Importance.MEDIUM,
                    "How long one copy may take, from its first byte to the acknowledgement by a quorum of zones.")
            .define(FETCH_TIMEOUT_MS, Type.LONG, 30_000L, ConfigDef.Range.between(1, 3_600_000), Importance.MEDIUM,
                    "How long one fetch may take until its last byte has been read. A stream that nobody reads or "
                            + "closes any more is given up after this time.")
            .define(CHUNK_BYTES, Type.INT, 256 * 1024, ConfigDef.Range.between(4096, 1 << 30), Importance.LOW,
                    "How many bytes of records go into one message to the daemon.")
            .define(MAX_MESSAGE_BYTES, Type.INT, 4 * 1024 * 1024, ConfigDef.Range.between(8192, 1 << 30),
                    Importance.LOW,
                    "The largest message to and from the daemon, which must allow at least as much. The header of a "
                            + "copy is one message, with about 200 bytes for each partition.")
            .define(TRACE_SAMPLE, Type.DOUBLE, 0.0, ConfigDef.Range.between(0, 1), Importance.LOW,
                    "The share of copies and fetches that begin a trace, which the daemon and the zones go on with. "
                            + "An error of such a call names its trace.")
            .define(CLUSTER_ID, Type.STRING, ConfigDef.NO_DEFAULT_VALUE, new ConfigDef.NonEmptyString(),
                    Importance.HIGH, "The cluster's id. The broker sets it.")
            .define(BROKER_ID, Type.INT, ConfigDef.NO_DEFAULT_VALUE, ConfigDef.Range.atLeast(0),
                    Importance.HIGH, "The broker's id. The broker sets it.");

    /** @throws ConfigException if a key is unknown or missing, or if values are invalid or contradict each other */
    public GrpcRemoteWalStorageManagerConfig(Map<String, ?> originals) {
        super(CONFIG, originals);
        TreeSet<String> unknown = new TreeSet<>(originals.keySet());
        unknown.removeAll(CONFIG.names());
        if (!unknown.isEmpty()) {
            throw new ConfigException("Unknown settings " + unknown + "; there are " + new TreeSet<>(CONFIG.names()));
        }
        if (chunkBytes() > maxMessageBytes() - CHUNK_OVERHEAD) {
            throw new ConfigException(CHUNK_BYTES, chunkBytes(), "does not fit into " + MAX_MESSAGE_BYTES + " = "
                    + maxMessageBytes() + ", which needs " + CHUNK_OVERHEAD + " bytes more");
        }
    }

    Target target() {
        return Target.parse(getString(TARGET));
    }

    Duration copyTimeout() {
        return Duration.ofMillis(getLong(COPY_TIMEOUT_MS));
    }

    Duration fetchTimeout() {
        return Duration.ofMillis(getLong(FETCH_TIMEOUT_MS));
    }

    int chunkBytes() {
        return getInt(CHUNK_BYTES);
    }

    int maxMessageBytes() {
        return getInt(MAX_MESSAGE_BYTES);
    }

    double traceSample() {
        return getDouble(TRACE_SAMPLE);
    }

    String clusterId() {
        return getString(CLUSTER_ID);
    }

    int brokerId() {
        return getInt(BROKER_ID);
    }

    private static void checkTarget(String name, Object value) {
        try {
            Target.parse((String) value);
        } catch (IllegalArgumentException e) {
            throw new ConfigException(name, value, e.getMessage());
        }
    }
}
