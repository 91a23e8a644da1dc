// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

@Timeout(60)
class SectionQueueTest {
    @Test
    void whatGoesInTogetherIsTakenTogetherUpToTheBytes() throws Exception {
        SectionQueue queue = new SectionQueue(10);
        List<WalSection> sections = List.of(section(400), section(400), section(400), section(2000), section(1));
        assertEquals(5, queue.offer(sections));
        assertEquals(sections.subList(0, 2), queue.take(1000));
        assertEquals(sections.subList(2, 3), queue.take(1000));
        assertEquals(sections.subList(3, 4), queue.take(1000), "one alone may be larger");
        assertEquals(sections.subList(4, 5), queue.take(1000));
    }

    @Test
    void takesAsManyAsThereIsRoomFor() throws Exception {
        SectionQueue queue = new SectionQueue(3);
        List<WalSection> sections = List.of(section(1), section(2), section(3), section(4));
        assertEquals(0, queue.offer(List.of()));
        assertTrue(queue.hasRoom());
        assertEquals(3, queue.offer(sections));
        assertFalse(queue.hasRoom());
        assertEquals(0, queue.offer(sections));
        assertEquals(sections.subList(0, 3), queue.take(1000));
        assertTrue(queue.hasRoom());
    }

    /** One offer wakes one taker; what that leaves must not wait for the next offer. */
    @Test
    void whatOneLeavesWakesAnother() throws Exception {
        SectionQueue queue = new SectionQueue(10);
        BlockingQueue<List<WalSection>> taken = new ArrayBlockingQueue<>(3);
        for (int i = 0; i < 3; i++) {
            CompletableFuture.runAsync(() -> {
                try {
                    taken.add(queue.take(1000));
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }, task -> new Thread(task).start());
        }
        assertEquals(3, queue.offer(List.of(section(900), section(900), section(900))));
        for (int i = 0; i < 3; i++) {
            assertEquals(1, taken.take().size());
        }
    }

    @Test
    void anInterruptEndsTheWaitingAndLosesNothing() throws Exception {
        SectionQueue queue = new SectionQueue(10);
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        Thread waiting = new Thread(() -> {
            try {
                queue.take(1000);
                ended.complete(null);
            } catch (InterruptedException e) {
                ended.complete(e);
            }
        });
        waiting.start();
        waiting.interrupt();
        assertInstanceOf(InterruptedException.class, ended.get());
        assertEquals(1, queue.offer(List.of(section(1))));
        assertEquals(1, queue.take(1000).size());
    }

    private static WalSection section(int bytes) {
        return new WalSection(null, 0, new RecordBatches.Run(ByteBuffer.allocate(bytes), 0, 0, 0, 0, 1), null, bytes, 0);
    }
}
