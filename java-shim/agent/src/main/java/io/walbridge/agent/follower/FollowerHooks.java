// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import io.walbridge.agent.HookCallException;
import io.walbridge.agent.HookMismatchException;
import io.walbridge.agent.HookResolver;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.replica.ClientMetadata;

import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What feeding followers through the WAL uses of the broker's own classes, besides the agent's other hooks. */
final class FollowerHooks {
    static final String REPLICA_MANAGER = "kafka.server.ReplicaManager";
    static final String PARTITION = "kafka.cluster.Partition";
    static final String LEADER_END_POINT = "kafka.server.RemoteLeaderEndPoint";
    static final String FETCH_RESPONSE = "org.apache.kafka.common.requests.FetchResponse";
    static final String FETCH_SESSION = "org.apache.kafka.clients.FetchSessionHandler";

    /** A follower's replica as it is now. */
    record Local(Object partition, int leaderEpoch, long logEndOffset) {}

    private final Object replicaManager;

    private final MethodHandle isFromFollower;
    private final MethodHandle clientMetadata;
    private final MethodHandle fetchOffset;
    private final MethodHandle topicPartition;
    private final MethodHandle onlinePartition;
    private final MethodHandle getLeaderEpoch;
    private final MethodHandle tryCompleteDelayedRequests;
    private final MethodHandle log;
    private final MethodHandle logEndOffset;
    private final MethodHandle logStartOffset;
    private final MethodHandle highWatermark;
    private final MethodHandle isDefined;
    private final MethodHandle get;
    private final MethodHandle errorsNone;
    private final MethodHandle error;
    private final MethodHandle data;
    private final MethodHandle unknownTaggedFields;
    private final MethodHandle newTaggedField;
    private final MethodHandle tag;
    private final MethodHandle taggedData;
    private final MethodHandle rackId;
    private final MethodHandle sessionTopicNames;
    private final MethodHandle newPartitionData;
    private final MethodHandle setPartitionIndex;
    private final MethodHandle setHighWatermark;
    private final MethodHandle setLogStartOffset;
    private final MethodHandle setRecords;
    private final MethodHandle errorCode;
    private final MethodHandle isDivergingEpoch;
    private final MethodHandle recordsSize;
    private final MethodHandle readableRecords;
    private final MethodHandle asJava;

    /** @throws HookMismatchException naming the first hook that is not as expected */
    FollowerHooks(ClassLoader loader, Object replicaManager) throws HookMismatchException {
        this.replicaManager = replicaManager;
        HookResolver find = new HookResolver(loader);
        Class<?> scalaMap = find.type("scala.collection.Map");
        Class<?> seq = find.type("scala.collection.Seq");
        Class<?> option = find.type("scala.Option");
        isDefined = find.method(option, "isDefined", boolean.class);
        get = find.method(option, "get", Object.class);
        asJava = find.method(find.type("scala.jdk.javaapi.CollectionConverters"), "asJava", Map.class, scalaMap);

        Class<?> manager = find.type(REPLICA_MANAGER);
        Class<?> partition = find.type(PARTITION);
        Class<?> quota = find.type("kafka.server.ReplicaQuota", "org.apache.kafka.server.quota.ReplicaQuota");
        Class<?> fetchParams = find.type("org.apache.kafka.server.storage.log.FetchParams");
        Class<?> asked = find.type("org.apache.kafka.common.requests.FetchRequest$PartitionData");
        find.method(manager, "readFromLog", seq, fetchParams, seq, quota, boolean.class);
        find.method(manager, "fetchMessages", void.class, fetchParams, seq, quota, find.type("scala.Function1"));
        find.method(manager, "shouldLeaderThrottle", boolean.class, quota, partition, int.class);
        find.method(partition, "fetchRecords", find.type("org.apache.kafka.storage.internals.log.LogReadInfo"),
                fetchParams, asked, long.class, int.class, boolean.class, boolean.class);
        isFromFollower = find.method(fetchParams, "isFromFollower", boolean.class);
        clientMetadata = find.getter(fetchParams, "clientMetadata", Optional.class);
        fetchOffset = find.getter(asked, "fetchOffset", long.class);

        // In this order: 4.0 has a class of the new name, too, with only some static methods.
        Class<?> unifiedLog = find.type("kafka.log.UnifiedLog", "org.apache.kafka.storage.internals.log.UnifiedLog");
        topicPartition = find.method(partition, "topicPartition", TopicPartition.class);
        onlinePartition = find.method(manager, "onlinePartition", option, TopicPartition.class);
        getLeaderEpoch = find.method(partition, "getLeaderEpoch", int.class);
        tryCompleteDelayedRequests = find.method(partition, "tryCompleteDelayedRequests", void.class);
        log = find.method(partition, "log", option);
        logEndOffset = find.method(unifiedLog, "logEndOffset", long.class);
        logStartOffset = find.method(unifiedLog, "logStartOffset", long.class);
        highWatermark = find.method(unifiedLog, "highWatermark", long.class);

        Class<?> errors = find.type("org.apache.kafka.common.protocol.Errors");
        Class<?> response = find.type(FETCH_RESPONSE);
        Class<?> message = find.type("org.apache.kafka.common.message.FetchResponseData");
        Class<?> field = find.type("org.apache.kafka.common.protocol.types.RawTaggedField");
        errorsNone = find.getter(errors, "NONE", errors);
        find.method(response, "of", response, errors, int.class, int.class, LinkedHashMap.class, List.class);
        error = find.method(response, "error", errors);
        data = find.method(response, "data", message);
        unknownTaggedFields = find.method(message, "unknownTaggedFields", List.class);
        newTaggedField = find.constructor(field, int.class, byte[].class);
        tag = find.method(field, "tag", int.class);
        taggedData = find.method(field, "data", byte[].class);

        Class<?> builder = find.type("org.apache.kafka.common.requests.FetchRequest$Builder");
        Class<?> session = find.type(FETCH_SESSION);
        find.method(find.type(LEADER_END_POINT), "fetch", Object.class, builder);
        find.method(session, "handleResponse", boolean.class, response, short.class);
        rackId = find.method(builder, "rackId", builder, String.class);
        sessionTopicNames = find.method(session, "sessionTopicNames", Map.class);

        Class<?> answer = find.type("org.apache.kafka.common.message.FetchResponseData$PartitionData");
        Class<?> records = recordType(find, "BaseRecords");
        Class<?> memoryRecords = recordType(find, "MemoryRecords");
        newPartitionData = find.constructor(answer);
        setPartitionIndex = find.method(answer, "setPartitionIndex", answer, int.class);
        setHighWatermark = find.method(answer, "setHighWatermark", answer, long.class);
        setLogStartOffset = find.method(answer, "setLogStartOffset", answer, long.class);
        setRecords = find.method(answer, "setRecords", answer, records);
        errorCode = find.method(answer, "errorCode", short.class);
        isDivergingEpoch = find.method(response, "isDivergingEpoch", boolean.class, answer);
        recordsSize = find.method(response, "recordsSize", int.class, answer);
        readableRecords = find.method(memoryRecords, "readableRecords", memoryRecords, ByteBuffer.class);
    }

    /** In 4.3 Kafka moved its classes of records to a package named internal. */
    private static Class<?> recordType(HookResolver find, String name) throws HookMismatchException {
        return find.type("org.apache.kafka.common.record.internal." + name, "org.apache.kafka.common.record." + name);
    }

    boolean isFromFollower(Object fetchParams) {
        try {
            return (boolean) isFromFollower.invokeExact(fetchParams);
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    /** The rack that the fetch says it comes from; empty where it says none. */
    @SuppressWarnings("unchecked")
    String rack(Object fetchParams) {
        try {
            Optional<ClientMetadata> metadata =
                    (Optional<ClientMetadata>) (Object) clientMetadata.invokeExact(fetchParams);
            return metadata.isPresent() ? metadata.get().rackId() : "";
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    /** @param asked a FetchRequest.PartitionData */
    long fetchOffset(Object asked) {
        try {
            return (long) fetchOffset.invokeExact(asked);
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    TopicPartition topicPartition(Object partition) {
        try {
            return (TopicPartition) (Object) topicPartition.invokeExact(partition);
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    /** What the leader tells of a partition besides its records; null where its log is gone. */
    Offer offer(Object partition, PartitionPointers known, List<Pointer> pointers) {
        try {
            Object maybe = (Object) log.invokeExact(partition);
            if (!(boolean) isDefined.invokeExact(maybe)) {
                return null;
            }
            Object own = (Object) get.invokeExact(maybe);
            return new Offer(known.led().id().topicId(), known.led().id().partition(), known.led().leaderEpoch(),
                    (long) highWatermark.invokeExact(own), (long) logStartOffset.invokeExact(own), pointers);
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    /** Looks whether a fetch that is parked for the partition can be answered now. Hold no lock. */
    void completeParked(TopicPartition name) {
        try {
            Object partition = online(name);
            if (partition != null) {
                tryCompleteDelayedRequests.invokeExact(partition);
            }
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    /** Null where the partition or its log is not here. */
    Local local(TopicPartition name) {
        try {
            Object partition = online(name);
            if (partition == null) {
                return null;
            }
            Object maybe = (Object) log.invokeExact(partition);
            if (!(boolean) isDefined.invokeExact(maybe)) {
                return null;
            }
            Object own = (Object) get.invokeExact(maybe);
            return new Local(partition, (int) getLeaderEpoch.invokeExact(partition),
                    (long) logEndOffset.invokeExact(own));
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    private Object online(TopicPartition name) throws Throwable {
        Object maybe = (Object) onlinePartition.invokeExact(replicaManager, (Object) name);
        return (boolean) isDefined.invokeExact(maybe) ? (Object) get.invokeExact(maybe) : null;
    }

    /** Adds the field to a FetchResponse, unless that tells of an error. */
    boolean attach(Object response, byte[] field) {
        try {
            if ((Object) error.invokeExact(response) != (Object) errorsNone.invokeExact()) {
                return false;
            }
            Object tagged = (Object) newTaggedField.invokeExact(PointerField.TAG, (Object) field);
            taggedFields(response).add(tagged);
            return true;
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    /** The field of a FetchResponse; null where it has none. */
    byte[] attached(Object response) {
        try {
            for (Object field : taggedFields(response)) {
                if ((int) tag.invokeExact(field) == PointerField.TAG) {
                    return (byte[]) (Object) taggedData.invokeExact(field);
                }
            }
            return null;
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    @SuppressWarnings("unchecked")
    private List<Object> taggedFields(Object response) throws Throwable {
        Object message = (Object) data.invokeExact(response);
        return (List<Object>) (Object) unknownTaggedFields.invokeExact(message);
    }

    /** Makes a FetchRequest.Builder say that it comes from the rack. */
    void setRack(Object builder, String rack) {
        try {
            Object same = (Object) rackId.invokeExact(builder, (Object) rack);
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    /** The names of the topics that a FetchSessionHandler's last request asked for, by their ids. */
    Map<?, ?> topicNames(Object session) {
        try {
            return (Map<?, ?>) (Object) sessionTopicNames.invokeExact(session);
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    /** What RemoteLeaderEndPoint.fetch returns: until 4.0 a Scala view of the map. */
    @SuppressWarnings("unchecked")
    Map<TopicPartition, Object> fetched(Object result) {
        try {
            return (Map<TopicPartition, Object>) (result instanceof Map ? result : (Object) asJava.invokeExact(result));
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    /** Whether a FetchResponseData.PartitionData says that all is well and there are no records. */
    boolean isEmpty(Object answer) {
        try {
            return (short) errorCode.invokeExact(answer) == 0 && !(boolean) isDivergingEpoch.invokeExact(answer)
                    && (int) recordsSize.invokeExact(answer) == 0;
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    /** A FetchResponseData.PartitionData without records, for a partition that the leader had nothing to say of. */
    Object answer(Offer offer) {
        try {
            Object answer = (Object) newPartitionData.invokeExact();
            Object same = (Object) setPartitionIndex.invokeExact(answer, offer.partition());
            same = (Object) setHighWatermark.invokeExact(answer, offer.highWatermark());
            same = (Object) setLogStartOffset.invokeExact(answer, offer.logStartOffset());
            return same;
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }

    void records(Object answer, ByteBuffer batches) {
        try {
            Object records = (Object) readableRecords.invokeExact((Object) batches);
            Object same = (Object) setRecords.invokeExact(answer, records);
        } catch (Throwable e) {
            throw HookCallException.rethrow(e);
        }
    }
}
