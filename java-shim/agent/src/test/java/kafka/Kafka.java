// SPDX-License-Identifier: Apache-2.0
package kafka;

import kafka.server.ReplicaManager;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Stands in for the broker's main class: writes over the agent's jar, in place, and then serves. */
public final class Kafka {
    private Kafka() {}

    /** @param arguments the jar, and what is written over it; none leaves it alone */
    public static void main(String[] arguments) throws IOException {
        if (arguments.length > 0) {
            Files.write(Path.of(arguments[0]), Files.readAllBytes(Path.of(arguments[1])));
        }
        System.out.println(new ReplicaManager().serve());
    }
}
