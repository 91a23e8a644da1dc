package io.walbridge.shim;

import com.google.protobuf.ByteString;
import io.grpc.StatusException;
import io.walbridge.proto.v1.EntryRange;
import io.walbridge.proto.v1.FetchEntriesRequest;
import io.walbridge.proto.v1.FetchEntriesResponse;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;

import java.nio.ByteBuffer;
import java.util.List;

/** Puts the chunks of a fetch of many ranges together again, checked like those of {@link FetchStream}. */
final class EntriesReader {

    private final BlockingCall<FetchEntriesRequest, FetchEntriesResponse> call;
    private final String what;

    EntriesReader(BlockingCall<FetchEntriesRequest, FetchEntriesResponse> call, String what) {
        this.call = call;
        this.what = what;
    }

    /** Hands each range to {@code handler} as soon as it is whole; one range is in memory at a time. */
    void read(List<EntryRange> ranges, WalClient.RangeHandler handler)
            throws RemoteStorageException, StatusException, InterruptedException {
        for (int i = 0; i < ranges.size(); i++) {
            ByteBuffer bytes = ByteBuffer.allocate(Ranges.length(ranges.get(i)));
            while (bytes.hasRemaining()) {
                FetchEntriesResponse reply = call.next();
                if (reply == null) {
                    throw wrong("it ends in range " + i + " of " + ranges.size());
                }
                take(reply, i, bytes);
            }
            handler.onRange(i, bytes.flip());
        }
        if (call.next() != null) {
            throw wrong("it is longer than what was asked for");
        }
    }

    private void take(FetchEntriesResponse reply, int range, ByteBuffer bytes) throws RemoteStorageException {
        ByteString chunk = reply.getChunk();
        if (reply.getRange() != range || chunk.size() > bytes.remaining()) {
            throw wrong(chunk.size() + " bytes of range " + reply.getRange() + " where " + bytes.remaining()
                    + " of range " + range + " are missing");
        }
        if (Checksum.of(chunk) != reply.getCrc32C()) {
            throw wrong("CRC-32C mismatch in range " + range);
        }
        chunk.copyTo(bytes);
    }

    private RemoteStorageException wrong(String how) {
        return new RemoteStorageException(what + ": the answer is wrong: " + how);
    }
}
