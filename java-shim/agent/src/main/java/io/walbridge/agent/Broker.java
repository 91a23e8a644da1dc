// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.Uuid;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** What the upload needs of the broker that it runs in. Thread-safe; nothing here waits for another thread. */
interface Broker {
    String clusterId();

    int id();

    /** The KRaft epoch of this broker's registration; -1 before it has registered. */
    long epoch();

    /** Grows whenever what is led may have changed, but for a log that moves to another directory. */
    long leadershipVersion();

    /** Has listener called whenever that has grown, on a thread that must not wait; there is one listener. */
    void onLeadershipChange(Runnable listener);

    /** Ends that, if listener is still the one. */
    void removeOnLeadershipChange(Runnable listener);

    /** The partitions that this broker leads now and whose log is online. */
    List<LedPartition> led();

    /** The log directories, by their ids. */
    Map<Uuid, Path> logDirectories();

    /** Record batches as this Kafka's own Records: its class moved between 4.2 and 4.3, so it has no name here. */
    Object records(ByteBuffer batches);
}
