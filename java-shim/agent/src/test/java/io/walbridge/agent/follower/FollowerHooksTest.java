// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.walbridge.agent.StockKafka;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.pool.TypePool;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import java.net.URLClassLoader;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

class FollowerHooksTest {
    /** By class, the methods that are woven; Kafka has one of each, but for the overloads of FetchResponse.of. */
    private static final Map<String, List<String>> WOVEN = Map.of(
            FollowerHooks.REPLICA_MANAGER, List.of("readFromLog", "shouldLeaderThrottle", "fetchMessages"),
            FollowerHooks.PARTITION, List.of("fetchRecords"),
            FollowerHooks.FETCH_SESSION, List.of("handleResponse"));

    @TestFactory
    Stream<DynamicTest> everyCachedKafkaHasThem() {
        List<StockKafka> cached = StockKafka.cached();
        assumeTrue(!cached.isEmpty(), "no Kafka in the cache");
        return cached.stream().map(kafka -> DynamicTest.dynamicTest(kafka.version(), () -> {
            try (URLClassLoader loader = kafka.loader()) {
                assertDoesNotThrow(() -> new FollowerHooks(loader, null));
                WOVEN.forEach((type, methods) -> methods.forEach(method -> assertOne(loader, type, method)));
            }
        }));
    }

    private static void assertOne(ClassLoader loader, String type, String method) {
        long found = TypePool.Default.of(ClassFileLocator.ForClassLoader.of(loader)).describe(type).resolve()
                .getDeclaredMethods().stream().map(MethodDescription::getName).filter(method::equals).count();
        assertEquals(1, found, type + "." + method);
    }
}
