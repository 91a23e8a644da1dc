// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The broker behind a kafka.server.ReplicaManager. */
final class KafkaBroker implements Broker {
    private final Hooks hooks;
    private final Object replicaManager;
    private final String clusterId;
    private final int id;
    private final Map<Uuid, Path> logDirectories;

    KafkaBroker(Hooks hooks, Object replicaManager, String clusterId, int id, Map<Uuid, Path> logDirectories) {
        this.hooks = hooks;
        this.replicaManager = replicaManager;
        this.clusterId = clusterId;
        this.id = id;
        this.logDirectories = Map.copyOf(logDirectories);
    }

    @Override
    public String clusterId() {
        return clusterId;
    }

    @Override
    public int id() {
        return id;
    }

    @Override
    public long epoch() {
        try {
            Object supplier = (Object) hooks.brokerEpochSupplier.invokeExact(replicaManager);
            return (Long) (Object) hooks.apply.invokeExact(supplier);
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    @Override
    public long leadershipVersion() {
        return BrokerEvents.deltasApplied();
    }

    @Override
    public void onLeadershipChange(Runnable listener) {
        BrokerEvents.onDelta(listener);
    }

    @Override
    public void removeOnLeadershipChange(Runnable listener) {
        BrokerEvents.removeOnDelta(listener);
    }

    @Override
    public List<LedPartition> led() {
        try {
            List<LedPartition> led = new ArrayList<>();
            Object partitions = (Object) hooks.leaderPartitionsIterator.invokeExact(replicaManager);
            while ((boolean) hooks.hasNext.invokeExact(partitions)) {
                Object partition = (Object) hooks.next.invokeExact(partitions);
                LedPartition now = led(partition);
                if (now != null) {
                    led.add(now);
                }
            }
            return led;
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    /** The partition as it is led now; null where it no longer is, or changes at this moment. */
    private LedPartition led(Object partition) throws Throwable {
        int leaderEpoch = (int) hooks.getLeaderEpoch.invokeExact(partition);
        Object log = (Object) hooks.leaderLogIfLocal.invokeExact(partition);
        Object topicId = (Object) hooks.topicId.invokeExact(partition);
        if (!(boolean) hooks.isDefined.invokeExact(log) || !(boolean) hooks.isDefined.invokeExact(topicId)) {
            return null;
        }
        TopicPartition name = (TopicPartition) (Object) hooks.topicPartition.invokeExact(partition);
        Uuid id = (Uuid) (Object) hooks.get.invokeExact(topicId);
        LedPartition led = new KafkaLedPartition(hooks, partition, (Object) hooks.get.invokeExact(log),
                new TopicIdPartition(id, name), leaderEpoch);
        return led.stillLed() ? led : null;
    }

    @Override
    public Map<Uuid, Path> logDirectories() {
        return logDirectories;
    }

    @Override
    public Object records(ByteBuffer batches) {
        try {
            return (Object) hooks.readableRecords.invokeExact((Object) batches);
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }
}
