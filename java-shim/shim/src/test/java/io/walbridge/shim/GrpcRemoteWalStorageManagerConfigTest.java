package io.walbridge.shim;

import org.apache.kafka.common.config.ConfigException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class GrpcRemoteWalStorageManagerConfigTest {

    @Test
    void defaults() {
        var config = config(Map.of());
        assertEquals("/run/walbridge/walbridge.sock", config.target().path());
        assertEquals(Duration.ofSeconds(10), config.copyTimeout());
        assertEquals(Duration.ofSeconds(30), config.fetchTimeout());
        assertEquals(256 * 1024, config.chunkBytes());
        assertEquals(4 * 1024 * 1024, config.maxMessageBytes());
        assertEquals(0, config.traceSample());
        assertEquals("c", config.clusterId());
        assertEquals(1, config.brokerId());
    }

    @ParameterizedTest
    @CsvSource({
        "unix:/run/w.sock, /run/w.sock,",
        "unix:///run/w.sock, /run/w.sock,",
        "dns:///localhost:7070, , dns:///localhost:7070",
        "dns:///10.0.0.1:7070, , dns:///10.0.0.1:7070",
        "dns:///[::1]:7070, , dns:///[::1]:7070",
    })
    void targets(String target, String path, String dns) {
        assertEquals(new Target(path, dns), config(Map.of("target", target)).target());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "walbridge.sock", "/run/w.sock", "unix:", "unix:w.sock", "unix://host/w.sock", "unix:/",
        "unix:////run/w.sock", "dns:///", "dns:///host", "dns:///host:0", "dns:///host:70000", "dns:///host:1/x",
        "dns:///user@host:1", "dns:///a b:1", "http://host:80", "host:7070",
        "unix:///0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
                + "01234567"})
    void invalidTargets(String target) {
        assertRefused(Map.of("target", target), "target");
    }

    @ParameterizedTest
    @CsvSource({
        "copy.timeout.ms, 0",
        "copy.timeout.ms, soon",
        "fetch.timeout.ms, -1",
        "chunk.bytes, 0",
        "chunk.bytes, 4194304",
        "max.message.bytes, 8191",
        "max.message.bytes, 262144",
        "trace.sample, -0.1",
        "trace.sample, 2",
        "cluster.id, ''",
        "broker.id, -1",
        "copy.timeout, 5",
    })
    void invalidValuesAreNamed(String key, String value) {
        assertRefused(Map.of(key, value), key);
    }

    @ParameterizedTest
    @ValueSource(strings = {"cluster.id", "broker.id"})
    void identityIsRequired(String key) {
        Map<String, Object> settings = new HashMap<>(Map.of("cluster.id", "c", "broker.id", 1));
        settings.remove(key);
        var e = assertThrows(ConfigException.class, () -> new GrpcRemoteWalStorageManagerConfig(settings));
        assertTrue(e.getMessage().contains(key), e.getMessage());
    }

    private static void assertRefused(Map<String, String> settings, String key) {
        var e = assertThrows(ConfigException.class, () -> config(settings));
        assertTrue(e.getMessage().contains(key), e.getMessage());
    }

    private static GrpcRemoteWalStorageManagerConfig config(Map<String, String> settings) {
        Map<String, Object> all = new HashMap<>(Map.of("cluster.id", "c", "broker.id", 1));
        all.putAll(settings);
        return new GrpcRemoteWalStorageManagerConfig(all);
    }
}
