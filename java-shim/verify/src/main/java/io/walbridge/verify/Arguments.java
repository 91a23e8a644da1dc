// SPDX-License-Identifier: Apache-2.0
package io.walbridge.verify;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The command line: every option once, with a value.
 *
 * @param target    where the daemon listens
 * @param clusterId the Kafka cluster's id
 * @param brokerId  the broker whose log is compared
 * @param logDirs   the broker's log directories
 * @param topics    the topics to check, all of their partitions
 */
record Arguments(String target, String clusterId, int brokerId, List<Path> logDirs, Set<String> topics) {
    private static final Set<String> OPTIONS =
            new TreeSet<>(Set.of("--target", "--cluster-id", "--broker-id", "--log-dirs", "--topics"));

    static Arguments parse(String... args) {
        Map<String, String> given = new HashMap<>();
        for (int i = 0; i + 1 < args.length; i += 2) {
            given.put(args[i], args[i + 1]);
        }
        if (args.length != 2 * OPTIONS.size() || !given.keySet().equals(OPTIONS)) {
            throw new IllegalArgumentException("needs each of " + OPTIONS + " with a value, not "
                    + Arrays.toString(args));
        }
        return new Arguments(given.get("--target"), given.get("--cluster-id"),
                Integer.parseInt(given.get("--broker-id")),
                Arrays.stream(given.get("--log-dirs").split(",")).map(Path::of).toList(),
                Set.of(given.get("--topics").split(",")));
    }
}
