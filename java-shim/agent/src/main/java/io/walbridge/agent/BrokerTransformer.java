// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import static net.bytebuddy.matcher.ElementMatchers.isConstructor;
import static net.bytebuddy.matcher.ElementMatchers.named;

import net.bytebuddy.ByteBuddy;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.asm.AsmVisitorWrapper;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.scaffold.TypeValidation;
import net.bytebuddy.pool.TypePool;
import org.slf4j.LoggerFactory;

import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.List;

/**
 * Weaves calls of {@link BrokerEvents} into two classes of the broker, matching methods by name alone, since their
 * parameters change between versions. What is woven in cannot throw.
 */
final class BrokerTransformer implements ClassFileTransformer {
    private static final String MAIN = "kafka/Kafka";
    private static final String REPLICA_MANAGER = Hooks.REPLICA_MANAGER.replace('.', '/');
    private static final String PARTITION = Hooks.PARTITION.replace('.', '/');

    @Override
    public byte[] transform(ClassLoader loader, String className, Class<?> redefined, ProtectionDomain domain,
                            byte[] classFile) {
        try {
            if (MAIN.equals(className)) {
                checkReplicaManager(loader);
            }
            // What is woven in drops its errors, so BrokerEvents has to be there before: this loads it.
            if (!REPLICA_MANAGER.equals(className) && !PARTITION.equals(className) || BrokerEvents.isOff()) {
                return null;
            }
            return woven(loader, className.replace('/', '.'), classFile);
        } catch (RuntimeException | Error e) {
            // First, since the JVM drops what is thrown from here.
            Agent.reportOff(e);
            Agent.instrumentation().removeTransformer(this);
            LoggerFactory.getLogger(BrokerTransformer.class).error("Walbridge is off: cannot weave {}", className, e);
            BrokerEvents.turnOff();
            return null;
        }
    }

    /** Where this Kafka has no such class, nothing else of the agent is ever called, and nothing else could tell. */
    private static void checkReplicaManager(ClassLoader loader) {
        if (loader.getResource(REPLICA_MANAGER + ".class") == null) {
            LoggerFactory.getLogger(BrokerTransformer.class).error("Walbridge is off: Kafka {} lacks the hook class {}",
                    KafkaVersion.get(), Hooks.REPLICA_MANAGER);
        }
    }

    private static byte[] woven(ClassLoader loader, String name, byte[] classFile) {
        ClassFileLocator locator = new ClassFileLocator.Compound(ClassFileLocator.Simple.of(name, classFile),
                ClassFileLocator.ForClassLoader.of(loader),
                ClassFileLocator.ForClassLoader.of(BrokerTransformer.class.getClassLoader()));
        TypeDescription type = TypePool.Default.of(locator).describe(name).resolve();
        List<AsmVisitorWrapper> advice = name.equals(Hooks.PARTITION)
                ? List.of(Advice.to(Appended.class, locator).on(named(Hooks.APPEND)))
                : List.of(Advice.to(Created.class, locator).on(isConstructor()),
                        Advice.to(DeltaApplied.class, locator).on(named(Hooks.APPLY_DELTA)),
                        Advice.to(ShuttingDown.class, locator).on(named(Hooks.SHUTDOWN)));
        return new ByteBuddy().with(TypeValidation.DISABLED).redefine(type, locator)
                .visit(new AsmVisitorWrapper.Compound(advice)).make().getBytes();
    }

    /** Advice: its body is copied into the constructors of ReplicaManager. */
    static final class Created {
        private Created() {}

        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.This Object replicaManager, @Advice.AllArguments Object[] arguments) {
            BrokerEvents.created(replicaManager, arguments);
        }
    }

    /** Advice: its body is copied into ReplicaManager.applyDelta. */
    static final class DeltaApplied {
        private DeltaApplied() {}

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit() {
            BrokerEvents.deltaApplied();
        }
    }

    /** Advice: its body is copied into ReplicaManager.shutdown. */
    static final class ShuttingDown {
        private ShuttingDown() {}

        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter() {
            BrokerEvents.shuttingDown();
        }
    }

    /** Advice: its body is copied into Partition.appendRecordsToLeader. */
    static final class Appended {
        private Appended() {}

        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.This Object partition) {
            BrokerEvents.appended(partition);
        }
    }
}
