// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** Lets one line through per subject and period, for what can repeat at every attempt. Thread-safe. */
final class LogThrottle {
    private static final int MAX_SUBJECTS = 1000;

    private final long periodNanos;
    private final Map<Object, Long> last = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Object, Long> eldest) {
            return size() > MAX_SUBJECTS;
        }
    };

    LogThrottle(Duration period) {
        periodNanos = period.toNanos();
    }

    synchronized boolean allows(Object subject) {
        long now = System.nanoTime();
        Long before = last.get(subject);
        if (before != null && now - before < periodNanos) {
            return false;
        }
        last.put(subject, now);
        return true;
    }
}
