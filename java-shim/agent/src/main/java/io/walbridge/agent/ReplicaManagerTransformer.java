// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import net.bytebuddy.ByteBuddy;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.scaffold.TypeValidation;
import net.bytebuddy.matcher.ElementMatchers;
import net.bytebuddy.pool.TypePool;
import org.slf4j.LoggerFactory;

import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;

/**
 * Weaves {@link BrokerEvents} into kafka.server.ReplicaManager: the end of every constructor (their parameters change
 * between versions) and the beginning of shutdown. An exception there never reaches the broker.
 */
final class ReplicaManagerTransformer implements ClassFileTransformer {
    private static final String INTERNAL_NAME = Hooks.REPLICA_MANAGER.replace('.', '/');

    @Override
    public byte[] transform(ClassLoader loader, String className, Class<?> redefined, ProtectionDomain domain,
                            byte[] classFile) {
        if (!INTERNAL_NAME.equals(className)) {
            return null;
        }
        try {
            return woven(loader, classFile);
        } catch (RuntimeException | Error e) {
            LoggerFactory.getLogger(Agent.class).error("Walbridge is off: cannot weave {}", Hooks.REPLICA_MANAGER, e);
            return null;
        }
    }

    private static byte[] woven(ClassLoader loader, byte[] classFile) {
        ClassFileLocator locator = new ClassFileLocator.Compound(
                ClassFileLocator.Simple.of(Hooks.REPLICA_MANAGER, classFile),
                ClassFileLocator.ForClassLoader.of(loader),
                ClassFileLocator.ForClassLoader.of(Agent.class.getClassLoader()));
        TypeDescription type = TypePool.Default.of(locator).describe(Hooks.REPLICA_MANAGER).resolve();
        return new ByteBuddy().with(TypeValidation.DISABLED)
                .redefine(type, locator)
                .visit(Advice.to(Created.class, locator).on(ElementMatchers.isConstructor()))
                .visit(Advice.to(ShuttingDown.class, locator).on(ElementMatchers.named("shutdown")
                        .and(ElementMatchers.takesArguments(boolean.class))))
                .make().getBytes();
    }

    /** Advice: its body is copied into the constructors. */
    static final class Created {
        private Created() {}

        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.This Object replicaManager) {
            BrokerEvents.created(replicaManager);
        }
    }

    /** Advice: its body is copied into shutdown. */
    static final class ShuttingDown {
        private ShuttingDown() {}

        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter() {
            BrokerEvents.shuttingDown();
        }
    }
}
