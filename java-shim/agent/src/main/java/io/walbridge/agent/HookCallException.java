// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

/** A checked exception that came out of a hook whose signature declares none. */
public final class HookCallException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private HookCallException(Throwable cause) {
        super(cause);
    }

    /** Throws what a hook threw, unchanged where that is unchecked. */
    public static RuntimeException rethrow(Throwable thrown) {
        if (thrown instanceof RuntimeException e) {
            throw e;
        }
        if (thrown instanceof Error e) {
            throw e;
        }
        throw new HookCallException(thrown);
    }
}
