// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.Reconfigurable;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.metrics.Metrics;

import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Map;
import java.util.NavigableMap;

/**
 * Everything that the agent uses of the broker's own classes, in one list. All of it is checked before anything is
 * started: either this Kafka has every hook with the signature given here, or the data path stays off.
 */
final class Hooks {
    static final String REPLICA_MANAGER = "kafka.server.ReplicaManager";
    static final String PARTITION = "kafka.cluster.Partition";
    /** What is woven, besides the constructor of ReplicaManager. */
    static final String APPLY_DELTA = "applyDelta";
    static final String SHUTDOWN = "shutdown";
    static final String APPEND = "appendRecordsToLeader";

    private final MethodHandle config;
    private final MethodHandle dynamicConfig;
    private final MethodHandle currentConfig;
    private final MethodHandle addReconfigurable;
    private final MethodHandle removeReconfigurable;
    final MethodHandle brokerEpochSupplier;
    final MethodHandle leaderPartitionsIterator;

    final MethodHandle topicPartition;
    final MethodHandle topicId;
    final MethodHandle isLeader;
    final MethodHandle getLeaderEpoch;
    final MethodHandle leaderLogIfLocal;
    final MethodHandle logDirectoryId;
    final MethodHandle remoteReplicas;

    final MethodHandle logStartOffset;
    final MethodHandle logEndOffset;
    final MethodHandle read;
    final MethodHandle logConfig;
    final MethodHandle leaderEpochCache;
    final MethodHandle epochWithOffsets;
    final MethodHandle fetchedRecords;
    final MethodHandle readToLogEnd;
    final MethodHandle fetchedFrom;
    final MethodHandle logEndOffsetMetadata;
    final MethodHandle offsetMetadata;
    final MethodHandle messageOffset;
    final MethodHandle segmentBaseOffset;
    final MethodHandle positionInSegment;
    final MethodHandle logSegments;
    final MethodHandle baseOffset;
    final MethodHandle segmentSize;

    final Class<?> fileRecords;
    final MethodHandle sizeInBytes;
    final MethodHandle readInto;
    final MethodHandle activeSegment;
    final MethodHandle segmentLog;
    final MethodHandle slice;
    final MethodHandle largestTimestamp;
    final MethodHandle readableRecords;

    final MethodHandle hasNext;
    final MethodHandle next;
    final MethodHandle isEmpty;
    final MethodHandle isDefined;
    final MethodHandle get;
    final MethodHandle apply;

    /** @throws HookMismatchException naming the first hook that is not as expected */
    Hooks(ClassLoader loader) throws HookMismatchException {
        HookResolver find = new HookResolver(loader);

        Class<?> iterator = find.type("scala.collection.Iterator");
        hasNext = find.method(iterator, "hasNext", boolean.class);
        next = find.method(iterator, "next", Object.class);
        Class<?> iterable = find.type("scala.collection.Iterable");
        isEmpty = find.method(iterable, "isEmpty", boolean.class);
        Class<?> option = find.type("scala.Option");
        isDefined = find.method(option, "isDefined", boolean.class);
        get = find.method(option, "get", Object.class);
        Class<?> function = find.type("scala.Function0");
        apply = find.method(function, "apply", Object.class);

        Class<?> replicaManager = find.type(REPLICA_MANAGER);
        config = find.method(replicaManager, "config", AbstractConfig.class);
        brokerEpochSupplier = find.method(replicaManager, "brokerEpochSupplier", function);
        leaderPartitionsIterator = find.method(replicaManager, "leaderPartitionsIterator", iterator);
        find.anyMethod(replicaManager, APPLY_DELTA);
        find.anyMethod(replicaManager, SHUTDOWN);
        find.constructorTaking(replicaManager, Metrics.class);

        Class<?> kafkaConfig = find.type("kafka.server.KafkaConfig");
        Class<?> dynamicBrokerConfig = find.type("kafka.server.DynamicBrokerConfig");
        dynamicConfig = find.method(kafkaConfig, "dynamicConfig", dynamicBrokerConfig);
        currentConfig = find.method(dynamicBrokerConfig, "currentKafkaConfig", kafkaConfig);
        addReconfigurable = find.method(kafkaConfig, "addReconfigurable", void.class, Reconfigurable.class);
        removeReconfigurable = find.method(kafkaConfig, "removeReconfigurable", void.class, Reconfigurable.class);

        Class<?> partition = find.type(PARTITION);
        find.anyMethod(partition, APPEND);
        topicPartition = find.method(partition, "topicPartition", TopicPartition.class);
        topicId = find.method(partition, "topicId", option);
        isLeader = find.method(partition, "isLeader", boolean.class);
        getLeaderEpoch = find.method(partition, "getLeaderEpoch", int.class);
        leaderLogIfLocal = find.method(partition, "leaderLogIfLocal", option);
        logDirectoryId = find.method(partition, "logDirectoryId", option);
        remoteReplicas = find.method(partition, "remoteReplicas", iterable);

        // In this order: 4.0 has a class of the new name, too, with only some static methods.
        Class<?> unifiedLog = find.type("kafka.log.UnifiedLog", "org.apache.kafka.storage.internals.log.UnifiedLog");
        Class<?> fetchDataInfo = find.type("org.apache.kafka.storage.internals.log.FetchDataInfo");
        Class<?> fetchIsolation = find.type("org.apache.kafka.server.storage.log.FetchIsolation");
        Class<?> epochCache = find.type("org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache");
        logStartOffset = find.method(unifiedLog, "logStartOffset", long.class);
        logEndOffset = find.method(unifiedLog, "logEndOffset", long.class);
        logConfig = find.method(unifiedLog, "config", AbstractConfig.class);
        read = find.method(unifiedLog, "read", fetchDataInfo, long.class, int.class, fetchIsolation, boolean.class);
        leaderEpochCache = find.method(unifiedLog, "leaderEpochCache", epochCache);
        epochWithOffsets = find.method(epochCache, "epochWithOffsets", NavigableMap.class);
        readToLogEnd = find.getter(fetchIsolation, "LOG_END", fetchIsolation);
        Class<?> logOffset = find.type("org.apache.kafka.storage.internals.log.LogOffsetMetadata");
        fetchedFrom = find.getter(fetchDataInfo, "fetchOffsetMetadata", logOffset);
        logEndOffsetMetadata = find.method(unifiedLog, "logEndOffsetMetadata", logOffset);
        offsetMetadata = find.method(unifiedLog, "maybeConvertToOffsetMetadata", logOffset, long.class);
        messageOffset = find.getter(logOffset, "messageOffset", long.class);
        segmentBaseOffset = find.getter(logOffset, "segmentBaseOffset", long.class);
        positionInSegment = find.getter(logOffset, "relativePositionInSegment", int.class);
        Class<?> logSegment = find.type("org.apache.kafka.storage.internals.log.LogSegment");
        logSegments = find.method(unifiedLog, "logSegments", Collection.class);
        baseOffset = find.method(logSegment, "baseOffset", long.class);
        segmentSize = find.method(logSegment, "size", int.class);

        Class<?> records = recordType(find, "Records");
        Class<?> memoryRecords = recordType(find, "MemoryRecords");
        fileRecords = recordType(find, "FileRecords");
        fetchedRecords = find.getter(fetchDataInfo, "records", records);
        sizeInBytes = find.method(fileRecords, "sizeInBytes", int.class);
        readInto = find.method(fileRecords, "readInto", void.class, ByteBuffer.class, int.class);
        activeSegment = find.method(unifiedLog, "activeSegment", logSegment);
        segmentLog = find.method(logSegment, "log", fileRecords);
        slice = find.method(fileRecords, "slice", fileRecords, int.class, int.class);
        largestTimestamp = find.method(logSegment, "largestTimestamp", long.class);
        readableRecords = find.method(memoryRecords, "readableRecords", memoryRecords, ByteBuffer.class);
    }

    /**
     * The broker's whole configuration, with what was set dynamically. It waits for a change that is being taken over,
     * so that whoever has been added before misses none.
     */
    Map<String, Object> brokerConfig(Object replicaManager) {
        try {
            Object dynamic = (Object) dynamicConfig.invokeExact((Object) config.invokeExact(replicaManager));
            return ((AbstractConfig) (Object) currentConfig.invokeExact(dynamic)).originals();
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    /** Has reconfigurable told of every dynamic change of its keys, by a thread that must not wait. */
    void addReconfigurable(Object replicaManager, Reconfigurable reconfigurable) {
        try {
            addReconfigurable.invokeExact((Object) config.invokeExact(replicaManager), (Object) reconfigurable);
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    void removeReconfigurable(Object replicaManager, Reconfigurable reconfigurable) {
        try {
            removeReconfigurable.invokeExact((Object) config.invokeExact(replicaManager), (Object) reconfigurable);
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    /** In 4.3 Kafka moved its classes of records to a package named internal. */
    private static Class<?> recordType(HookResolver find, String name) throws HookMismatchException {
        return find.type("org.apache.kafka.common.record.internal." + name, "org.apache.kafka.common.record." + name);
    }
}
