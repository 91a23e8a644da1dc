package io.walbridge.shim;

import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Reads the broker's log files on threads that nobody interrupts. An interrupt during a read of a FileChannel closes
 * the channel, and that channel is the broker's own: it would take the whole segment from every other reader.
 *
 * <p>A thread serves one copy at a time, so that there are about as many as there are concurrent copies of FileRecords.
 */
final class FileReads implements AutoCloseable {

    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "walbridge-file-read");
        thread.setDaemon(true);
        return thread;
    });

    /** Returns what {@code read} returns. An interrupt ends the waiting and leaves the read to finish by itself. */
    <T> T call(Callable<T> read) throws IOException, InterruptedException {
        try {
            return threads.submit(read).get();
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof IOException failed) {
                throw failed;
            }
            throw new IOException(cause);
        }
    }

    /** Ends the threads as they become idle, and waits for none. Reads after it fail. */
    @Override
    public void close() {
        threads.shutdown();
    }
}
