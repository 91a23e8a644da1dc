package io.walbridge.shim;

import io.walbridge.proto.v1.Source;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The bytes of one section of a partition's log, as {@link WalClient#copy} sends them: once, from first to last. */
public interface Section {

    /** The section's length in bytes. It is constant. */
    int sizeInBytes();

    /** Where in a file of the broker's log the section lies; the default instance where it lies in none. */
    default Source source() {
        return Source.getDefaultInstance();
    }

    /**
     * Returns the {@code length} bytes from {@code position}. They must not change until the copy has returned.
     *
     * @throws IOException          if they cannot be read, or if there are fewer
     * @throws InterruptedException if the thread is interrupted before they are read
     */
    ByteBuffer read(int position, int length) throws IOException, InterruptedException;

    /** A section that is in memory. The copy reads {@code bytes} in place. */
    static Section of(ByteBuffer bytes) {
        ByteBuffer own = bytes.slice();
        return new Section() {
            @Override
            public int sizeInBytes() {
                return own.capacity();
            }

            @Override
            public ByteBuffer read(int position, int length) {
                return own.slice(position, length);
            }
        };
    }
}
