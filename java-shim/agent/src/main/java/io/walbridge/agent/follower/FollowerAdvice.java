// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.takesArguments;

import net.bytebuddy.asm.Advice;
import net.bytebuddy.asm.AsmVisitorWrapper;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.implementation.bytecode.member.MethodInvocation;

import java.lang.reflect.Method;
import java.util.List;

/** The code that is copied into methods of the broker. {@link FollowerHooks} checks that there is one of each. */
final class FollowerAdvice {
    private static final Method FAILED = failed();

    private FollowerAdvice() {}

    /** What is woven into the class with that name. */
    static List<AsmVisitorWrapper> of(String className, ClassFileLocator locator) {
        return switch (className) {
            case FollowerHooks.REPLICA_MANAGER -> List.of(
                    advice(Read.class, locator).on(named("readFromLog")),
                    advice(KeepBack.class, locator).on(named("shouldLeaderThrottle")),
                    advice(FetchMessages.class, locator).on(named("fetchMessages")));
            case FollowerHooks.PARTITION -> List.of(advice(PartitionRead.class, locator).on(named("fetchRecords")));
            case FollowerHooks.FETCH_RESPONSE -> List.of(
                    advice(Response.class, locator).on(named("of").and(takesArguments(5))));
            case FollowerHooks.FETCH_SESSION -> List.of(
                    advice(Taken.class, locator).on(named("handleResponse")));
            case FollowerHooks.LEADER_END_POINT -> List.of(advice(Fetch.class, locator)
                    .on(named("fetch").and(takesArguments(1))));
            default -> throw new IllegalArgumentException(className);
        };
    }

    /** With what happens where a piece of code throws, which must not reach the broker. */
    private static Advice advice(Class<?> code, ClassFileLocator locator) {
        return Advice.to(code, locator).withExceptionHandler(new Advice.ExceptionHandler.Simple(
                MethodInvocation.invoke(new MethodDescription.ForLoadedMethod(FAILED))));
    }

    private static Method failed() {
        try {
            return FollowerEvents.class.getMethod("failed", Throwable.class);
        } catch (NoSuchMethodException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** In ReplicaManager.readFromLog. */
    static final class Read {
        private Read() {}

        @Advice.OnMethodEnter(suppress = Throwable.class)
        static Object enter(@Advice.Argument(0) Object fetchParams) {
            return FollowerEvents.readBegins(fetchParams);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter Object call, @Advice.Thrown Throwable thrown) {
            FollowerEvents.readEnds(call, thrown);
        }
    }

    /** In ReplicaManager.shouldLeaderThrottle. */
    static final class KeepBack {
        private KeepBack() {}

        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.Argument(1) Object partition, @Advice.Argument(2) int followerId,
                         @Advice.Return(readOnly = false) boolean throttled) {
            throttled = FollowerEvents.keepsBack(partition, followerId, throttled);
        }
    }

    /** In ReplicaManager.fetchMessages. */
    static final class FetchMessages {
        private FetchMessages() {}

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit() {
            FollowerEvents.fetchMessagesEnds();
        }
    }

    /** In Partition.fetchRecords. */
    static final class PartitionRead {
        private PartitionRead() {}

        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.This Object partition, @Advice.Argument(1) Object asked) {
            FollowerEvents.partitionRead(partition, asked);
        }
    }

    /** In FetchResponse.of. */
    static final class Response {
        private Response() {}

        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.Return Object response) {
            FollowerEvents.responseMade(response);
        }
    }

    /** In FetchSessionHandler.handleResponse. */
    static final class Taken {
        private Taken() {}

        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.This Object handler, @Advice.Argument(0) Object response,
                         @Advice.Return boolean accepted) {
            if (accepted) {
                FollowerEvents.responseTaken(handler, response);
            }
        }
    }

    /** In RemoteLeaderEndPoint.fetch. */
    static final class Fetch {
        private Fetch() {}

        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(0) Object builder) {
            FollowerEvents.fetchBegins(builder);
        }

        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.Return Object result) {
            FollowerEvents.fetchEnds(result);
        }
    }
}
