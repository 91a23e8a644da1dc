// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import net.bytebuddy.ByteBuddy;
import net.bytebuddy.asm.AsmVisitorWrapper;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.scaffold.TypeValidation;
import net.bytebuddy.implementation.Implementation;
import net.bytebuddy.pool.TypePool;
import org.slf4j.LoggerFactory;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Weaves calls of {@link FollowerEvents} into the broker's classes, while it runs, and takes them out again. What is
 * woven in cannot throw, and adds no member to a class.
 */
final class FollowerTransformer implements ClassFileTransformer {
    private static final Set<String> WOVEN = Set.of(FollowerHooks.REPLICA_MANAGER, FollowerHooks.PARTITION,
            FollowerHooks.FETCH_RESPONSE, FollowerHooks.FETCH_SESSION, FollowerHooks.LEADER_END_POINT);

    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    /** Weaves what is loaded, and sees to what will be. */
    void weave(Instrumentation instrumentation) throws UnmodifiableClassException {
        instrumentation.addTransformer(this, true);
        retransform(instrumentation);
        if (failure.get() != null) {
            throw new IllegalStateException("cannot weave", failure.get());
        }
    }

    /** Leaves the classes as if they had never been woven. */
    void remove(Instrumentation instrumentation) throws UnmodifiableClassException {
        instrumentation.removeTransformer(this);
        retransform(instrumentation);
    }

    private static void retransform(Instrumentation instrumentation) throws UnmodifiableClassException {
        Class<?>[] loaded = Arrays.stream(instrumentation.getAllLoadedClasses())
                .filter(type -> WOVEN.contains(type.getName())).toArray(Class<?>[]::new);
        instrumentation.retransformClasses(loaded);
    }

    @Override
    public byte[] transform(ClassLoader loader, String className, Class<?> redefined, ProtectionDomain domain,
                            byte[] classFile) {
        String name = className == null ? "" : className.replace('/', '.');
        if (!WOVEN.contains(name)) {
            return null;
        }
        try {
            return woven(loader, name, classFile);
        } catch (RuntimeException | Error e) {
            failure.set(e);
            FollowerEvents.turnOff();
            LoggerFactory.getLogger(FollowerTransformer.class).error("Followers get records: cannot weave {}", name, e);
            return null;
        }
    }

    private static byte[] woven(ClassLoader loader, String name, byte[] classFile) {
        ClassFileLocator locator = new ClassFileLocator.Compound(ClassFileLocator.Simple.of(name, classFile),
                ClassFileLocator.ForClassLoader.of(loader),
                ClassFileLocator.ForClassLoader.of(FollowerTransformer.class.getClassLoader()));
        TypeDescription type = TypePool.Default.of(locator).describe(name).resolve();
        return new ByteBuddy().with(TypeValidation.DISABLED).with(Implementation.Context.Disabled.Factory.INSTANCE)
                .redefine(type, locator)
                .visit(new AsmVisitorWrapper.Compound(FollowerAdvice.of(name, locator))).make().getBytes();
    }
}
