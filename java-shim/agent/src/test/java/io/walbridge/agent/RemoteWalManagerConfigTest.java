// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.kafka.common.config.ConfigException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

class RemoteWalManagerConfigTest {
    @Test
    void isOffByDefault() {
        assertFalse(new RemoteWalManagerConfig(Map.of("node.id", "1")).enabled());
    }

    @Test
    void readsTheKeysOfTheKip() {
        RemoteWalManagerConfig config = new RemoteWalManagerConfig(Map.of(
                "remote.log.wal.storage.system.enable", "true",
                "remote.log.wal.topics", "orders, log-.*",
                "rwsm.config.target", "unix:///run/w.sock",
                "log.dirs", "/var/lib/kafka"));
        assertTrue(config.enabled());
        assertEquals(List.of("orders", "log-.*"), config.topics().stream().map(Pattern::pattern).toList());
        assertEquals(Map.of("target", "unix:///run/w.sock"), config.storageManagerConfig());
        assertEquals("io.walbridge.shim.GrpcRemoteWalStorageManager",
                config.getString(RemoteWalManagerConfig.CLASS_NAME));
    }

    @Test
    void thePrefixCanBeChosen() {
        RemoteWalManagerConfig config = new RemoteWalManagerConfig(Map.of(
                "remote.log.wal.storage.manager.impl.prefix", "remote.log.wal.mine.",
                "remote.log.wal.mine.target", "x"));
        assertEquals(Map.of("target", "x"), config.storageManagerConfig());
    }

    @ParameterizedTest
    @CsvSource({
        "remote.log.wal.storage.system.enable, yes",
        "remote.log.wal.topics, a(b",
        "remote.log.wal.storage.manager.class.name, ''",
        "remote.wal.log.manager.thread.pool.size, 0",
        "remote.wal.log.manager.combiner.thread.pool.size, many",
        "remote.wal.log.manager.combiner.queue.size, 0",
        "remote.wal.log.manager.combiner.max.bytes, 0",
        "remote.wal.log.manager.buffer.bytes, 1",
        "remote.wal.log.manager.max.backlog.bytes, -1",
        "remote.wal.log.manager.combiner.linger.ms, 5",
        "remote.log.wal.topic, orders",
    })
    void refusesWhatItCannotUseAndNamesTheKey(String key, String value) {
        Exception refusal = assertThrows(ConfigException.class, () -> new RemoteWalManagerConfig(Map.of(key, value)));
        assertTrue(refusal.getMessage().contains(key), refusal.getMessage());
    }
}
