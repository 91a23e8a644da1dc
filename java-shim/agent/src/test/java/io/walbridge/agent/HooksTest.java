// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import net.bytebuddy.implementation.FixedValue;
import org.apache.kafka.common.config.AbstractConfig;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

import java.util.List;
import java.util.stream.Stream;

class HooksTest {
    @TestFactory
    Stream<DynamicTest> everyCachedKafkaHasThem() {
        List<StockKafka> cached = StockKafka.cached();
        assumeTrue(!cached.isEmpty(), "no Kafka in the cache");
        return cached.stream().map(kafka -> DynamicTest.dynamicTest(kafka.version(), () -> {
            try (var loader = kafka.loader()) {
                assertDoesNotThrow(() -> new Hooks(loader));
            }
        }));
    }

    @Test
    void namesTheHookThatAVersionLacks() throws Exception {
        List<StockKafka> cached = StockKafka.cached();
        assumeTrue(!cached.isEmpty(), "no Kafka in the cache");
        try (var loader = cached.get(0).loader()) {
            DynamicType.Unloaded<?> other = new ByteBuddy().subclass(Object.class).name(Hooks.REPLICA_MANAGER)
                    .defineMethod("config", AbstractConfig.class, Visibility.PUBLIC)
                    .intercept(FixedValue.nullValue())
                    .defineMethod("brokerEpochSupplier", long.class, Visibility.PUBLIC)
                    .intercept(FixedValue.value(1L))
                    .make();
            other.load(loader, ClassLoadingStrategy.Default.INJECTION);
            HookMismatchException mismatch = assertThrows(HookMismatchException.class, () -> new Hooks(loader));
            assertEquals("kafka.server.ReplicaManager.brokerEpochSupplier(): scala.Function0", mismatch.getMessage());
            assertTrue(mismatch.getCause().getMessage().contains("returns long"), mismatch.getCause().getMessage());
        }
    }
}
