package io.walbridge.shim;

import io.grpc.StatusException;
import io.walbridge.proto.v1.FetchLogSegmentRequest;
import io.walbridge.proto.v1.FetchLogSegmentResponse;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * The bytes of one fetch. It ends after exactly the bytes that were asked for, each chunk checked: a checksum that does
 * not match, a stream that ends early or goes on too long, and any error of the daemon's is an IOException, whose cause
 * is the exception that Kafka knows. Closing it cancels the call at once. For one thread at a time.
 */
final class FetchStream extends InputStream {

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final BlockingCall<FetchLogSegmentRequest, FetchLogSegmentResponse> call;
    private final String what;
    private long missing;
    private ByteBuffer chunk = NOTHING;
    private boolean ended;
    private boolean closed;
    private RemoteStorageException failure;

    FetchStream(BlockingCall<FetchLogSegmentRequest, FetchLogSegmentResponse> call, String what, long length) {
        this.call = call;
        this.what = what;
        this.missing = length;
    }

    /** Waits for the first bytes, so that a fetch that fails at the daemon fails before there is a stream. */
    void awaitFirst() throws RemoteStorageException {
        nextChunk();
    }

    @Override
    public int read() throws IOException {
        return more() ? chunk.get() & 0xff : -1;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, target.length);
        if (length == 0) {
            return 0;
        }
        if (!more()) {
            return -1;
        }
        int n = Math.min(length, chunk.remaining());
        chunk.get(target, offset, n);
        return n;
    }

    @Override
    public int available() {
        return chunk.remaining();
    }

    @Override
    public void close() {
        closed = true;
        chunk = NOTHING;
        call.close();
    }

    private boolean more() throws IOException {
        if (closed) {
            throw new IOException(what + ": the stream is closed");
        }
        try {
            while (!ended && !chunk.hasRemaining()) {
                nextChunk();
            }
        } catch (RemoteStorageException e) {
            if (e.getCause() instanceof InterruptedException) {
                throw (IOException) new InterruptedIOException(e.getMessage()).initCause(e);
            }
            throw new IOException(e.getMessage(), e);
        }
        return chunk.hasRemaining();
    }

    private void nextChunk() throws RemoteStorageException {
        if (failure == null) {
            failure = receive();
        }
        if (failure != null) {
            // For good: a reader that goes on after an error must not find an end of file.
            chunk = NOTHING;
            call.close();
            throw failure;
        }
    }

    /** Takes the next chunk, or the end; returns what is wrong with it. */
    private RemoteStorageException receive() {
        FetchLogSegmentResponse reply;
        try {
            reply = call.next();
        } catch (StatusException e) {
            return StatusMapping.exception(what, e);
        } catch (InterruptedException e) {
            return StatusMapping.interrupted(what, e);
        }
        if (reply == null) {
            ended = missing == 0;
            return ended ? null : new RemoteStorageException(what + ": the answer is " + missing + " bytes short");
        }
        chunk = reply.getChunk().asReadOnlyByteBuffer();
        missing -= chunk.remaining();
        if (missing < 0) {
            return new RemoteStorageException(what + ": the answer is longer than what was asked for");
        }
        if (Checksum.of(reply.getChunk()) != reply.getCrc32C()) {
            return new RemoteStorageException(what + ": CRC-32C mismatch between the daemon and here");
        }
        return null;
    }
}
