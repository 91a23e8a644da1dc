// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.util.Random;

/** The randomness of a test: its seed is printed, and given by WALBRIDGE_SEED it is used again. */
final class Seed {
    private Seed() {}

    static Random random() {
        String given = System.getenv("WALBRIDGE_SEED");
        long seed = given == null ? System.nanoTime() : Long.parseLong(given);
        System.out.println("WALBRIDGE_SEED=" + seed);
        return new Random(seed);
    }
}
