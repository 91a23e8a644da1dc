// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

/** This Kafka is not as the agent expects it; the message names the hook. */
public final class HookMismatchException extends Exception {
    private static final long serialVersionUID = 1L;

    HookMismatchException(String hook, Throwable cause) {
        super(hook, cause);
    }
}
