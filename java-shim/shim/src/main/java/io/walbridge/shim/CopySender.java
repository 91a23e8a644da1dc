package io.walbridge.shim;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.walbridge.proto.v1.CopyHeader;
import io.walbridge.proto.v1.CopyLogSegmentDataRequest;
import io.walbridge.proto.v1.CopyLogSegmentDataResponse;
import io.walbridge.proto.v1.CopyTrailer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Sends one copy: the header, in chunks the bytes of those sections that have no source in it, the trailer. Each byte
 * is read once, and its checksum is taken from the very bytes that are sent. A chunk holds parts of as many sections as
 * fit, so that a thousand small ones do not make a thousand messages.
 */
final class CopySender {

    private final BlockingCall<CopyLogSegmentDataRequest, CopyLogSegmentDataResponse> call;
    private final int chunkBytes;
    private final List<ByteString> chunk = new ArrayList<>();
    private int pending;

    CopySender(BlockingCall<CopyLogSegmentDataRequest, CopyLogSegmentDataResponse> call, int chunkBytes) {
        this.call = call;
        this.chunkBytes = chunkBytes;
    }

    /**
     * Sends everything. False if the call ended before.
     *
     * @throws IOException if a section cannot be read to its end; the daemon then got no trailer and stores nothing
     */
    boolean send(CopyHeader header, List<? extends Section> sections) throws IOException, InterruptedException {
        if (!call.send(CopyLogSegmentDataRequest.newBuilder().setHeader(header).build())) {
            return false;
        }
        CopyTrailer.Builder trailer = CopyTrailer.newBuilder();
        for (int i = 0; i < sections.size(); i++) {
            if (WalClient.hasSource(header, i)) {
                continue;
            }
            Section section = sections.get(i);
            CRC32C crc = new CRC32C();
            int size = section.sizeInBytes();
            for (int position = 0; position < size; ) {
                ByteBuffer bytes = section.read(position, Math.min(chunkBytes - pending, size - position));
                position += bytes.remaining();
                crc.update(bytes.duplicate());
                if (!add(bytes)) {
                    return false;
                }
            }
            trailer.addCrc32C((int) crc.getValue());
        }
        return flush() && call.send(CopyLogSegmentDataRequest.newBuilder().setTrailer(trailer).build());
    }

    private boolean add(ByteBuffer bytes) throws InterruptedException {
        pending += bytes.remaining();
        chunk.add(UnsafeByteOperations.unsafeWrap(bytes));
        return pending < chunkBytes || flush();
    }

    private boolean flush() throws InterruptedException {
        if (pending == 0) {
            return true;
        }
        ByteString bytes = ByteString.copyFrom(chunk);
        chunk.clear();
        pending = 0;
        return call.send(CopyLogSegmentDataRequest.newBuilder().setChunk(bytes).build());
    }
}
