// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import io.walbridge.agent.HookMismatchException;
import io.walbridge.agent.CopyListener;
import io.walbridge.shim.GrpcRemoteWalStorageManagerConfig;
import io.walbridge.shim.WalClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Feeds followers through the WAL: the proof that the hooks carry it, off unless topics are named for it. Without it
 * nothing of this package is woven into the broker.
 */
public final class FollowerProof implements AutoCloseable {
    private static final String MBEAN = "walbridge:type=FollowerProof";

    private static final Logger LOG = LoggerFactory.getLogger(FollowerProof.class);

    private final Instrumentation instrumentation;
    private final FollowerTransformer transformer = new FollowerTransformer();
    private final LeaderSide leader;
    private final Prefetcher prefetcher;

    /**
     * Weaves the hooks, as the last thing that can fail.
     *
     * @param topics whose names match as a whole; only what goes to the WAL counts
     * @param daemon the settings of the client of this broker's daemon
     * @throws HookMismatchException naming the first hook that is not as expected; nothing is woven then
     */
    public FollowerProof(Object replicaManager, List<Pattern> topics, Map<String, ?> daemon,
                         Instrumentation instrumentation) throws HookMismatchException, JMException,
            UnmodifiableClassException {
        this.instrumentation = instrumentation;
        FollowerHooks hooks = new FollowerHooks(replicaManager.getClass().getClassLoader(), replicaManager);
        FollowerCounters counters = new FollowerCounters();
        prefetcher = new Prefetcher(new WalClient(new GrpcRemoteWalStorageManagerConfig(daemon)), counters);
        leader = new LeaderSide(hooks, topic -> topics.stream().anyMatch(p -> p.matcher(topic).matches()), counters);
        ManagementFactory.getPlatformMBeanServer().registerMBean(counters, new ObjectName(MBEAN));
        FollowerEvents.turnOn(leader, new FollowerSide(hooks, prefetcher, counters));
        try {
            transformer.weave(instrumentation);
        } catch (UnmodifiableClassException | RuntimeException | Error e) {
            close();
            throw e;
        }
        LOG.info("Walbridge feeds followers of {} through the WAL", topics);
    }

    /** Who is to be told of copies. */
    public CopyListener copyListener() {
        return leader;
    }

    /** Leaves the broker as it was. */
    @Override
    public void close() {
        FollowerEvents.turnOff();
        prefetcher.close();
        try {
            transformer.remove(instrumentation);
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(new ObjectName(MBEAN));
        } catch (UnmodifiableClassException | JMException e) {
            LOG.warn("Cannot undo all of what feeds followers", e);
        }
    }
}
