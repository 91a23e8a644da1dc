// SPDX-License-Identifier: Apache-2.0
package io.walbridge.verify;

/** What is stored is not what the broker has. The message says where, and what was found and expected. */
final class MismatchException extends Exception {
    private static final long serialVersionUID = 1L;

    MismatchException(String format, Object... args) {
        super(String.format(format, args));
    }
}
