// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.walbridge.agent.FakeBroker.FakePartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/** Switching the upload, between a broker and a store in memory. */
@Timeout(60)
class UploadSwitchTest {
    private final FakeBroker broker = new FakeBroker();
    private final Random random = Seed.random();
    private final Map<String, String> config = new HashMap<>(Map.of(
            RemoteWalManagerConfig.ENABLE, "true",
            RemoteWalManagerConfig.TOPICS, "t",
            RemoteWalManagerConfig.CLASS_NAME, SwitchedStorage.class.getName()));
    private final UploadSwitch upload = new UploadSwitch(broker, CopyListener.NONE);
    private FakePartition partition;

    @BeforeEach
    void lead() {
        SwitchedStorage.reset();
        partition = broker.create("t", 0);
        partition.lead(1);
        append(20);
    }

    @AfterEach
    void close() throws InterruptedException {
        upload.close();
        await(() -> threads().isEmpty());
        assertEquals(SwitchedStorage.made(), SwitchedStorage.closed(), "storage managers closed");
    }

    @Test
    void goesOnWhereItWasWhenItIsSwitchedOnAgain() {
        upload.configureFirst(config);
        await(this::caughtUp);
        for (int i = 0; i < 10; i++) {
            upload.setEnabled(false);
            assertFalse(upload.isEnabled());
            assertEquals(0, upload.getPartitions());
            append(5);
            upload.setEnabled(true);
            await(this::caughtUp);
        }
        assertEquals(partition.end(), upload.getRecords(), "every record is stored once");
        assertEquals(11, SwitchedStorage.made());
    }

    @Test
    void whileItIsOffThereIsNoThreadAndNothingIsCalledOnAppends() {
        upload.configureFirst(config);
        await(this::caughtUp);
        upload.setEnabled(false);
        await(() -> threads().isEmpty());
        assertFalse(partition.hasListener());
    }

    @Test
    void theConfigurationSwitchesAndTheLaterWordCounts() {
        upload.configureFirst(configured(RemoteWalManagerConfig.ENABLE, "false"));
        upload.reconfigure(configured(RemoteWalManagerConfig.ENABLE, "true"));
        await(this::caughtUp);
        upload.setEnabled(false);
        upload.reconfigure(configured(RemoteWalManagerConfig.TOPICS, "t,u"));
        await(() -> upload.getTopics().equals(List.of("t", "u")));
        assertFalse(upload.isEnabled(), "another key does not switch it on");
        upload.setEnabled(true);
        upload.reconfigure(configured(RemoteWalManagerConfig.ENABLE, "false"));
        await(() -> !upload.isEnabled());
    }

    @Test
    void aChangeThatComesBeforeTheFirstConfigurationIsNotUndoneByIt() {
        upload.reconfigure(configured(RemoteWalManagerConfig.ENABLE, "true"));
        upload.configureFirst(configured(RemoteWalManagerConfig.ENABLE, "false"));
        await(this::caughtUp);
    }

    @Test
    void topicsChangeWithoutAStop() {
        FakePartition other = broker.create("u", 0);
        other.lead(1);
        other.append(random, 100);
        upload.configureFirst(config);
        await(this::caughtUp);
        upload.reconfigure(configured(RemoteWalManagerConfig.TOPICS, "u"));
        await(() -> upload.getWalEnds().equals(Map.of("u-0", other.end())));
        append(5);
        upload.reconfigure(configured(RemoteWalManagerConfig.TOPICS, "t|u"));
        await(() -> upload.getPartitions() == 2 && upload.getLagRecords() == 0);
        assertEquals(partition.end() + other.end(), upload.getRecords(), "every record is stored once");
        assertEquals(1, SwitchedStorage.made());
    }

    @Test
    void aValueThatCannotBeUsedChangesNothing() {
        upload.configureFirst(config);
        await(this::caughtUp);
        upload.reconfigure(configured(RemoteWalManagerConfig.TOPICS, "a(b"));
        upload.reconfigure(configured(RemoteWalManagerConfig.ENABLE, "perhaps"));
        upload.setEnabled(true); // After the other two.
        assertEquals(List.of("t"), upload.getTopics());
        append(5);
        await(this::caughtUp);
    }

    @Test
    void whatFailsHalfWayLeavesNothingBehind() {
        SwitchedStorage.failToConfigure(true);
        upload.configureFirst(config);
        assertThrows(IllegalStateException.class, () -> upload.setEnabled(true));
        assertFalse(upload.isEnabled());
        SwitchedStorage.failToConfigure(false);
        upload.setEnabled(true);
        await(this::caughtUp);
    }

    /** A storage manager that neither answers nor lets itself be closed. */
    @Test
    void aMuteStorageHoldsUpTheEndForItsTimeOnly() throws InterruptedException {
        SwitchedStorage.mute(true);
        upload.configureFirst(configured(RemoteWalManagerConfig.SHUTDOWN_TIMEOUT_MS, "100"));
        await(() -> SwitchedStorage.waiting() > 0);
        upload.close(); // It returns, while the storage is mute.
        SwitchedStorage.mute(false);
    }

    private Map<String, String> configured(String key, String value) {
        Map<String, String> changed = new HashMap<>(config);
        changed.put(key, value);
        return changed;
    }

    private void append(int batches) {
        for (int i = 0; i < batches; i++) {
            partition.append(random, 100);
        }
    }

    private boolean caughtUp() {
        return upload.walEnd("t", 0) == partition.end();
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
                .filter(name -> name.startsWith("walbridge-")).collect(Collectors.toList());
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() < deadline, "it took too long");
            try {
                Thread.sleep(2);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
