// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Takes a step again and again until it is stopped. Nothing that a step throws ends it, not even what comes of
 * reporting that.
 */
final class UntilStopped implements Runnable {
    /** So that what throws at once does not keep a core busy. */
    private static final Duration PAUSE = Duration.ofMillis(500);

    private static final Logger LOG = LoggerFactory.getLogger(UntilStopped.class);

    private final Step step;
    private final LogThrottle throttle;
    private volatile boolean stopped;

    /** One round of the work. */
    interface Step {
        void take() throws InterruptedException;
    }

    UntilStopped(Step step, LogThrottle throttle) {
        this.step = step;
        this.throttle = throttle;
    }

    /** Makes run return after the step that it is in. Whoever may interrupt the thread can end that, too. */
    void stop() {
        stopped = true;
    }

    @Override
    public void run() {
        while (!stopped) {
            try {
                step.take();
            } catch (InterruptedException e) {
                LOG.debug("{} was interrupted", Thread.currentThread().getName());
            } catch (Throwable e) {
                report(e);
            }
        }
    }

    private void report(Throwable thrown) {
        try {
            if (throttle.allows(step.getClass())) {
                LOG.error("{} goes on after an unexpected error", Thread.currentThread().getName(), thrown);
            }
        } catch (Throwable again) {
            // Most likely there is no memory left, and nothing to be said.
        }
        LockSupport.parkNanos(PAUSE.toNanos());
    }
}
