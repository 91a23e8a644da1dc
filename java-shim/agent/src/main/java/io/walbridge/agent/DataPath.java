// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;
import org.apache.kafka.server.log.remote.storage.RemoteWalStorageManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.lang.management.ManagementFactory;
import java.security.CodeSource;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import javax.management.JMException;
import javax.management.ObjectName;

/** Starts and ends the upload in a broker: all of it or nothing. */
final class DataPath {
    private static final String MBEAN = "walbridge:type=RemoteWalManager";

    private static final Logger LOG = LoggerFactory.getLogger(DataPath.class);

    private final RemoteWalManager manager;

    private DataPath(RemoteWalManager manager) {
        this.manager = manager;
    }

    /**
     * Starts the upload. Where something does not fit there is one line in the broker's log, and the broker runs as if
     * it had no agent.
     *
     * @throws Exception where something fails that ought not to
     */
    static Optional<DataPath> start(Object replicaManager) throws Exception {
        try {
            if (shippedByKafka()) {
                LOG.error("Walbridge is off: Kafka {} has KIP-1176's classes itself", KafkaVersion.get());
                return Optional.empty();
            }
            Hooks hooks = new Hooks(replicaManager.getClass().getClassLoader());
            Map<String, Object> properties = hooks.brokerConfig(replicaManager).originals();
            RemoteWalManagerConfig config = new RemoteWalManagerConfig(properties);
            if (!config.enabled()) {
                LOG.info("Walbridge is off: {} is not true", RemoteWalManagerConfig.ENABLE);
                return Optional.empty();
            }
            Broker broker = new KafkaBroker(hooks, replicaManager, MetaProperties.clusterId(properties),
                    MetaProperties.brokerId(properties), MetaProperties.logDirectories(properties));
            return Optional.of(start(config, broker));
        } catch (HookMismatchException e) {
            LOG.error("Walbridge is off: Kafka {} lacks the hook {} ({})", KafkaVersion.get(), e.getMessage(),
                    e.getCause().toString());
        } catch (ConfigException e) {
            LOG.error("Walbridge is off: {}", e.getMessage());
        }
        return Optional.empty();
    }

    /** Stops the upload, after what the logs hold has been stored. */
    void close(Duration flush, Duration stop) throws InterruptedException {
        manager.close(flush, stop);
        try {
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(new ObjectName(MBEAN));
        } catch (JMException e) {
            LOG.warn("Cannot unregister {}", MBEAN, e);
        }
    }

    private static DataPath start(RemoteWalManagerConfig config, Broker broker) throws JMException {
        RemoteWalStorageManager storage = StorageManagerLoader.create(config, broker);
        RemoteWalManager manager = new RemoteWalManager(config, broker, storage);
        ManagementFactory.getPlatformMBeanServer().registerMBean(manager, new ObjectName(MBEAN));
        manager.start();
        LOG.info("Walbridge stores the topics {} of cluster {} in the WAL, through {}", config.topics(),
                broker.clusterId(), storage.getClass().getName());
        return new DataPath(manager);
    }

    /** A Kafka that has these classes would use them for itself, and they might not be the ones we were built with. */
    private static boolean shippedByKafka() {
        CodeSource ours = RemoteWalStorageManager.class.getProtectionDomain().getCodeSource();
        CodeSource kafka = RemoteStorageManager.class.getProtectionDomain().getCodeSource();
        return ours != null && kafka != null && Objects.equals(ours.getLocation(), kafka.getLocation());
    }
}
