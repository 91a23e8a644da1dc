// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.lang.instrument.Instrumentation;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The entry point of {@code -javaagent:walbridge-agent.jar}. KAFKA_OPTS reaches every tool of Kafka, so anything but a
 * broker is left alone. Nothing of Kafka is loaded here: other agents in the same command line come first or last as
 * they please.
 */
public final class Agent {
    private static final AtomicBoolean INSTALLED = new AtomicBoolean();

    private static volatile Instrumentation instrumentation;

    private Agent() {}

    /** Called by the JVM, before the broker's main. */
    public static void premain(String arguments, Instrumentation jvm) {
        if (isBroker(System.getProperty("sun.java.command", "")) && INSTALLED.compareAndSet(false, true)) {
            instrumentation = jvm;
            try {
                jvm.addTransformer(new BrokerTransformer());
            } catch (Throwable e) {
                // Beyond premain it would end the JVM.
                reportOff(e);
            }
        }
    }

    /**
     * Says on stderr that the agent does not work. Where its jar was written over in place, no class of it can be
     * loaded any more: this needs none but what is loaded already, and no logger.
     */
    static void reportOff(Throwable why) {
        System.err.println("Walbridge is off: its agent failed with " + why.getClass().getName()
                + (why instanceof LinkageError ? "; was its jar overwritten, not replaced, under this JVM?" : ""));
    }

    /** The JVM's, in a broker; what is woven only where it is configured uses it later. */
    static Instrumentation instrumentation() {
        return instrumentation;
    }

    /** @param command the main class and its arguments */
    static boolean isBroker(String command) {
        return command.equals("kafka.Kafka") || command.startsWith("kafka.Kafka ");
    }
}
