/**
 * The shim: {@link org.apache.kafka.server.log.remote.storage.RemoteWalStorageManager} translated to calls of the
 * Walbridge daemon. It keeps no state between calls, retries nothing and logs nothing; whoever calls it does.
 *
 * <p>{@link io.walbridge.shim.GrpcRemoteWalStorageManager} is what Kafka's classes see,
 * {@link io.walbridge.shim.WalClient} the daemon's whole service for the agent and for tools.
 *
 * <p>Kafka 4.3 moved {@code org.apache.kafka.common.record.Records} and its kin to {@code ...record.internal}. Compiled
 * code here names them only in erased generics; {@link io.walbridge.shim.BrokerRecords} reaches them by name.
 */
package io.walbridge.shim;
