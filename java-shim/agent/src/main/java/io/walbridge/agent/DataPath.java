// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import io.walbridge.agent.follower.FollowerProof;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;
import org.apache.kafka.server.log.remote.storage.RemoteWalStorageManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.lang.instrument.UnmodifiableClassException;
import java.lang.management.ManagementFactory;
import java.security.CodeSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import javax.management.JMException;
import javax.management.ObjectName;

/** Ties the upload to a broker: its configuration, its metrics, JMX. All of it or nothing. */
final class DataPath {
    private static final String MBEAN = "walbridge:type=RemoteWalManager";

    private static final Logger LOG = LoggerFactory.getLogger(DataPath.class);

    private final UploadSwitch upload;
    /** What is to be undone, the last first. */
    private final Deque<Undo> undo = new ArrayDeque<>();

    private interface Undo {
        void run() throws JMException;
    }

    private DataPath(Hooks hooks, Object replicaManager, Broker broker, Metrics metrics,
                     Optional<FollowerProof> proof) throws JMException {
        upload = new UploadSwitch(broker, proof.map(FollowerProof::copyListener).orElse(CopyListener.NONE));
        proof.ifPresent(running -> undo.push(running::close));
        try {
            hooks.addReconfigurable(replicaManager, upload);
            undo.push(() -> hooks.removeReconfigurable(replicaManager, upload));
            ObjectName name = new ObjectName(MBEAN);
            ManagementFactory.getPlatformMBeanServer().registerMBean(upload, name);
            undo.push(() -> ManagementFactory.getPlatformMBeanServer().unregisterMBean(name));
            BrokerMetrics figures = new BrokerMetrics(metrics, upload);
            undo.push(figures::close);
        } catch (JMException | RuntimeException | Error e) {
            untie();
            throw e;
        }
    }

    /**
     * Starts the upload, if the configuration wants it. Where something does not fit there is one line in the broker's
     * log, and the broker runs as if it had no agent.
     *
     * @throws Exception where something fails that ought not to
     */
    static Optional<DataPath> start(Object replicaManager, Metrics metrics) throws Exception {
        try {
            if (shippedByKafka()) {
                LOG.error("Walbridge is off: Kafka {} has KIP-1176's classes itself", KafkaVersion.get());
                return Optional.empty();
            }
            Hooks hooks = new Hooks(replicaManager.getClass().getClassLoader());
            Map<String, Object> properties = hooks.brokerConfig(replicaManager);
            Broker broker = new KafkaBroker(hooks, replicaManager, MetaProperties.clusterId(properties),
                    MetaProperties.brokerId(properties), MetaProperties.logDirectories(properties));
            DataPath path = new DataPath(hooks, replicaManager, broker, metrics,
                    proof(properties, broker, replicaManager));
            // Asked for anew, now that we are told of changes: none is missed.
            path.upload.configureFirst(hooks.brokerConfig(replicaManager));
            return Optional.of(path);
        } catch (HookMismatchException e) {
            LOG.error("Walbridge is off: Kafka {} lacks the hook {} ({})", KafkaVersion.get(), e.getMessage(),
                    e.getCause().toString());
            return Optional.empty();
        }
    }

    /** None unless it is configured, and valid; of what is not the upload tells. */
    private static Optional<FollowerProof> proof(Map<String, Object> properties, Broker broker, Object replicaManager)
            throws HookMismatchException, JMException, UnmodifiableClassException {
        try {
            RemoteWalManagerConfig config = new RemoteWalManagerConfig(properties);
            return config.followerProofTopics().isEmpty() ? Optional.empty()
                    : Optional.of(new FollowerProof(replicaManager, config.followerProofTopics(),
                            StorageManagerLoader.properties(config, broker), Agent.instrumentation()));
        } catch (ConfigException e) {
            return Optional.empty();
        }
    }

    /** Stops the upload, after what the logs hold has been stored, and leaves nothing behind. */
    void close() throws InterruptedException {
        try {
            upload.close();
        } finally {
            untie();
        }
    }

    private void untie() {
        while (!undo.isEmpty()) {
            try {
                undo.pop().run();
            } catch (JMException | RuntimeException e) {
                LOG.warn("Walbridge cannot leave the broker as it was", e);
            }
        }
    }

    /** A Kafka that has these classes would use them for itself, and they might not be the ones we were built with. */
    private static boolean shippedByKafka() {
        CodeSource ours = RemoteWalStorageManager.class.getProtectionDomain().getCodeSource();
        CodeSource kafka = RemoteStorageManager.class.getProtectionDomain().getCodeSource();
        return ours != null && kafka != null && Objects.equals(ours.getLocation(), kafka.getLocation());
    }
}
