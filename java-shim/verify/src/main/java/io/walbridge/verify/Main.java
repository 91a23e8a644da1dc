// SPDX-License-Identifier: Apache-2.0
package io.walbridge.verify;

import io.walbridge.shim.GrpcRemoteWalStorageManager;
import io.walbridge.shim.GrpcRemoteWalStorageManagerConfig;
import io.walbridge.shim.WalClient;

import java.io.InputStream;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Reads all that a broker stored back through the shim and compares it with the broker's own segment files. Prints one
 * line of JSON: the figures of what was verified, status 0, or the first thing that is wrong, status 1.
 */
public final class Main {
    private static final Duration LIST_TIMEOUT = Duration.ofSeconds(30);

    private Main() { }

    public static void main(String[] args) {
        int status = 0;
        String answer;
        try {
            answer = verify(Arguments.parse(args)).json();
        } catch (MismatchException e) {
            answer = error(e.getMessage());
            status = 1;
        } catch (Exception e) {
            e.printStackTrace();
            answer = error(e.toString());
            status = 1;
        }
        System.out.println(answer);
        System.exit(status);
    }

    private static Figures verify(Arguments arguments) throws Exception {
        Map<String, Object> config = new HashMap<>();
        config.put(GrpcRemoteWalStorageManagerConfig.TARGET, arguments.target());
        config.put(GrpcRemoteWalStorageManagerConfig.CLUSTER_ID, arguments.clusterId());
        config.put(GrpcRemoteWalStorageManagerConfig.BROKER_ID, arguments.brokerId());
        try (WalClient client = new WalClient(new GrpcRemoteWalStorageManagerConfig(config));
             GrpcRemoteWalStorageManager shim = new GrpcRemoteWalStorageManager()) {
            shim.configure(config);
            Listing listing = Listing.of(client, arguments.brokerId(), LIST_TIMEOUT);
            EntryReader reader = entry -> {
                try (InputStream stream = shim.fetchLogSegment(entry, 0, Integer.MAX_VALUE)) {
                    return stream.readAllBytes();
                }
            };
            Verifier verifier = new Verifier(listing, reader);
            return arguments.starts().isEmpty()
                    ? verifier.topics(arguments.logDirs(), arguments.topics())
                    : verifier.partitions(arguments.logDirs(), arguments.starts());
        }
    }

    private static String error(String s) {
        StringBuilder escaped = new StringBuilder();
        for (char c : s.toCharArray()) {
            if (c == '"' || c == '\\' || c < ' ') {
                escaped.append(String.format("\\u%04x", (int) c));
            } else {
                escaped.append(c);
            }
        }
        return "{\"error\":\"" + escaped + "\"}";
    }
}
