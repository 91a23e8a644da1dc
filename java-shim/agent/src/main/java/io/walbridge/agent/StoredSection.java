// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;

/** A section that a quorum holds, and the metadata by which it can be read back. */
record StoredSection(WalSection section, RemoteWalLogSegmentMetadata metadata) {}
