package io.walbridge.shim;

import io.grpc.Metadata;

import java.util.concurrent.ThreadLocalRandom;

/**
 * The trace of one call, in the words of W3C Trace Context. Nothing is recorded here: the daemon's spans, and below
 * them the zones', go on with the trace, and an error that names it leads to them.
 *
 * @param parent the traceparent header, or null for a call that begins no trace
 */
record Trace(String parent) {

    static final Metadata.Key<String> PARENT = Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER);

    static final Trace NONE = new Trace(null);

    /** Begins a trace for {@code share} of the calls, from 0 for none to 1 for all. */
    static Trace begin(double share) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        if (random.nextDouble() >= share) {
            return NONE;
        }
        // Neither id may be all zeros; the last bit says that the trace is sampled.
        return new Trace(String.format("00-%016x%016x-%016x-01", random.nextLong(), random.nextLong() | 1,
                random.nextLong() | 1));
    }

    Metadata headers() {
        Metadata headers = new Metadata();
        if (parent != null) {
            headers.put(PARENT, parent);
        }
        return headers;
    }

    /** What an error's message says of it. */
    @Override
    public String toString() {
        return parent == null ? "" : " (trace " + parent.substring(3, 35) + ")";
    }
}
