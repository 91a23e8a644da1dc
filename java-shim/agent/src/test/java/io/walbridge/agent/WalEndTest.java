// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

import java.util.BitSet;
import java.util.Random;

class WalEndTest {
    @Test
    void waitsForTheGapToClose() {
        WalEnd end = new WalEnd(10);
        end.stored(15, 20);
        assertEquals(10, end.get());
        end.stored(10, 15);
        assertEquals(20, end.get());
    }

    @Test
    void aLogStartBeyondAGapClosesIt() {
        WalEnd end = new WalEnd(0);
        end.stored(30, 40);
        end.logStart(35);
        assertEquals(40, end.get());
    }

    @Test
    void aLogStartBelowTheEndChangesNothing() {
        WalEnd end = new WalEnd(0);
        end.stored(0, 40);
        end.logStart(35);
        assertEquals(40, end.get());
    }

    @Test
    void beginsAnewWhereItSkips() {
        WalEnd end = new WalEnd(0);
        end.stored(0, 10);
        end.stored(20, 30);
        end.restart(50);
        assertEquals(50, end.start());
        assertEquals(50, end.get());
        end.stored(10, 20); // was under way
        assertEquals(50, end.start());
        assertEquals(50, end.get());
        end.stored(50, 60);
        assertEquals(50, end.start());
        assertEquals(60, end.get());
    }

    /** Ranges in any order, overlapping, against a set of single offsets. */
    @Test
    void agreesWithASetOfOffsets() {
        Random random = Seed.random();
        for (int round = 0; round < 2000; round++) {
            int start = random.nextInt(20);
            WalEnd end = new WalEnd(start);
            BitSet stored = new BitSet();
            stored.set(0, start);
            for (int i = 0; i < 60; i++) {
                int from = random.nextInt(200);
                int to = from + 1 + random.nextInt(15);
                if (random.nextInt(20) == 0) {
                    end.logStart(from);
                    stored.set(0, from);
                } else {
                    end.stored(from, to);
                    stored.set(from, to);
                }
                assertEquals(stored.nextClearBit(0), end.get(), "after [" + from + ", " + to + ") of round " + round);
            }
        }
    }
}
