// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

class FetcherSessionTest {
    private static final Uuid TOPIC = Uuid.randomUuid();
    private static final Pointer FIRST = new Pointer(ByteString.copyFromUtf8("x"), 0, 10, 0, 9);
    private static final Pointer SECOND = new Pointer(ByteString.copyFromUtf8("y"), 0, 10, 10, 19);
    private static final ByteBuffer BYTES = ByteBuffer.allocate(10);

    private final FetcherSession session = new FetcherSession();
    private final FollowerCounters counters = new FollowerCounters();
    private final Map<Pointer, CompletableFuture<ByteBuffer>> reads = new HashMap<>();
    private final List<Set<Pointer>> begun = new ArrayList<>();

    @Test
    void whatIsOfferedAgainIsReadOnce() {
        fetch(FIRST, SECOND);
        reads.get(FIRST).complete(BYTES);
        assertEquals(BYTES, session.await(FIRST, System.nanoTime(), counters));
        fetch(SECOND);
        assertEquals(List.of(Set.of(FIRST, SECOND), Set.of()), begun);
        assertFalse(reads.get(SECOND).isCancelled());
    }

    @Test
    void whatIsNotOfferedAnyMoreIsForgotten() {
        fetch(FIRST, SECOND);
        fetch();
        assertTrue(reads.get(FIRST).isCancelled());
        assertTrue(reads.get(SECOND).isCancelled());
        assertNull(session.await(FIRST, System.nanoTime(), counters));
    }

    @Test
    void aSectionThatIsLateIsLeftForTheNextFetch() {
        fetch(FIRST);
        assertNull(session.await(FIRST, System.nanoTime(), counters));
        assertEquals(1, counters.getWaitsInVain());
        assertFalse(session.restsAt(System.nanoTime()));
        assertFalse(reads.get(FIRST).isCancelled());
    }

    @Test
    void afterAFailureItRests() {
        fetch(FIRST);
        reads.get(FIRST).completeExceptionally(new IllegalStateException("no daemon"));
        assertNull(session.await(FIRST, System.nanoTime(), counters));
        assertTrue(session.restsAt(System.nanoTime()));
        assertFalse(session.restsAt(System.nanoTime() + 3_600_000_000_000L));
    }

    @Test
    void aTopicThatWasNotAskedForIsIgnored() {
        session.begin();
        session.offered(List.of(offer(Uuid.randomUuid(), FIRST), offer(TOPIC, SECOND)), Map.of(TOPIC, "t"));
        assertEquals(Set.of(new TopicPartition("t", 0)), session.offers().keySet());
    }

    private void fetch(Pointer... pointers) {
        session.begin();
        session.offered(pointers.length == 0 ? List.of() : List.of(offer(TOPIC, pointers)), Map.of(TOPIC, "t"));
        session.end();
        session.prefetch(this::read);
    }

    private Map<Pointer, Future<ByteBuffer>> read(Map<Pointer, Offer> wanted) {
        begun.add(Set.copyOf(wanted.keySet()));
        Map<Pointer, Future<ByteBuffer>> sections = new HashMap<>();
        wanted.keySet().forEach(pointer -> {
            reads.put(pointer, new CompletableFuture<>());
            sections.put(pointer, reads.get(pointer));
        });
        return sections;
    }

    private static Offer offer(Uuid topic, Pointer... pointers) {
        return new Offer(topic, 0, 0, 0, 0, List.of(pointers));
    }
}
