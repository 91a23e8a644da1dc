// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;

/** A section that a quorum holds, and the metadata by which it can be read back. */
public record StoredSection(WalSection section, RemoteWalLogSegmentMetadata metadata) {
    /** The partition, in the epoch that it was stored in. */
    public LedPartition led() {
        return section.partition().led();
    }
}
