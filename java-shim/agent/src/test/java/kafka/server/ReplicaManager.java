// SPDX-License-Identifier: Apache-2.0
package kafka.server;

import kafka.cluster.Partition;

/** Stands in for the broker's class that is woven, and uses the other one. */
public final class ReplicaManager {
    public String serve() {
        return new Partition().appendRecordsToLeader();
    }
}
