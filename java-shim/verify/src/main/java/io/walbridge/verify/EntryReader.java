// SPDX-License-Identifier: Apache-2.0
package io.walbridge.verify;

import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteWalLogSegmentMetadata;

import java.io.IOException;

/** Reads what is stored of an entry, all of it. */
@FunctionalInterface
interface EntryReader {
    byte[] read(RemoteWalLogSegmentMetadata entry) throws IOException, RemoteStorageException;
}
