// SPDX-License-Identifier: Apache-2.0
package io.walbridge.verify;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The command line: options with a value each.
 *
 * @param target    where the daemon listens
 * @param clusterId the Kafka cluster's id
 * @param brokerId  the broker whose log is compared
 * @param logDirs   the broker's log directories
 * @param topics    the topics to check, all of their partitions; empty where there are partitions
 * @param starts    the partitions to check, by name (topic-partition), each with its log start offset; empty where
 *                  there are topics, whose logs start with a segment
 */
record Arguments(String target, String clusterId, int brokerId, List<Path> logDirs, Set<String> topics,
                 Map<String, Long> starts) {
    private static final Set<String> OPTIONS =
            new TreeSet<>(Set.of("--target", "--cluster-id", "--broker-id", "--log-dirs"));
    private static final Set<String> WHAT = new TreeSet<>(Set.of("--topics", "--partitions"));

    static Arguments parse(String... args) {
        Map<String, String> given = new HashMap<>();
        for (int i = 0; i + 1 < args.length; i += 2) {
            given.put(args[i], args[i + 1]);
        }
        Set<String> missing = new TreeSet<>(OPTIONS);
        missing.removeAll(given.keySet());
        Set<String> other = new TreeSet<>(given.keySet());
        other.removeAll(OPTIONS);
        if (args.length != 2 * given.size() || !missing.isEmpty() || other.size() != 1 || !WHAT.containsAll(other)) {
            throw new IllegalArgumentException("needs each of " + OPTIONS + " and one of " + WHAT
                    + ", with a value, not " + Arrays.toString(args));
        }
        return new Arguments(given.get("--target"), given.get("--cluster-id"),
                Integer.parseInt(given.get("--broker-id")),
                list(given.get("--log-dirs")).map(Path::of).toList(),
                list(given.get("--topics")).collect(Collectors.toSet()),
                list(given.get("--partitions")).map(partition -> partition.split(":"))
                        .collect(Collectors.toMap(named -> named[0], named -> Long.parseLong(named[1]))));
    }

    private static Stream<String> list(String value) {
        return value == null ? Stream.empty() : Arrays.stream(value.split(","));
    }
}
