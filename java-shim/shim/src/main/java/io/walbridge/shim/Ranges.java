package io.walbridge.shim;

import io.walbridge.proto.v1.EntryRange;

/** What a range of an entry amounts to. */
final class Ranges {

    private Ranges() {
    }

    /**
     * The bytes that the daemon answers a range with: its end is inclusive, and beyond the entry's end it means that.
     *
     * @throws IllegalArgumentException if the range is negative, inverted or begins beyond the entry's end
     */
    static int length(EntryRange range) {
        long entry = Integer.toUnsignedLong(range.getEntry().getLength());
        long start = range.getStartPosition();
        long end = Math.min(range.getEndPosition(), entry - 1);
        if (start < 0 || end < start) {
            throw new IllegalArgumentException("no bytes from " + start + " to " + range.getEndPosition()
                    + " in an entry of " + entry + " bytes");
        }
        return Math.toIntExact(end - start + 1);
    }
}
