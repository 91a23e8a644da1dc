// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import org.apache.kafka.common.Uuid;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The tagged field of a FetchResponse that carries offers, on its top level: an incremental fetch session leaves out
 * partitions with neither records nor news. Whoever does not know the tag skips it.
 *
 * <p>Variable-length integers, protobuf's, after one byte of version. First the extents, each once however many
 * partitions its frame holds, then the partitions with the pointers into them.
 */
final class PointerField {
    /** Far above what Kafka counts up from 0. */
    static final int TAG = 1176;

    private static final int VERSION = 1;

    private PointerField() {}

    static byte[] encode(List<Offer> offers) {
        Map<ByteString, Integer> extents = new LinkedHashMap<>();
        for (Offer offer : offers) {
            for (Pointer pointer : offer.pointers()) {
                extents.putIfAbsent(pointer.extent(), extents.size());
            }
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            CodedOutputStream out = CodedOutputStream.newInstance(bytes);
            out.writeRawByte(VERSION);
            out.writeUInt32NoTag(extents.size());
            for (ByteString extent : extents.keySet()) {
                out.writeBytesNoTag(extent);
            }
            out.writeUInt32NoTag(offers.size());
            for (Offer offer : offers) {
                write(offer, extents, out);
            }
            out.flush();
        } catch (IOException e) {
            throw new IllegalStateException("memory does not fail", e);
        }
        return bytes.toByteArray();
    }

    private static void write(Offer offer, Map<ByteString, Integer> extents, CodedOutputStream out)
            throws IOException {
        out.writeFixed64NoTag(offer.topicId().getMostSignificantBits());
        out.writeFixed64NoTag(offer.topicId().getLeastSignificantBits());
        out.writeUInt32NoTag(offer.partition());
        out.writeUInt32NoTag(offer.leaderEpoch());
        out.writeUInt64NoTag(offer.highWatermark());
        out.writeUInt64NoTag(offer.logStartOffset());
        out.writeUInt64NoTag(offer.pointers().get(0).baseOffset());
        out.writeUInt32NoTag(offer.pointers().size());
        for (Pointer pointer : offer.pointers()) {
            out.writeUInt32NoTag(extents.get(pointer.extent()));
            out.writeUInt32NoTag(pointer.position());
            out.writeUInt32NoTag(pointer.length());
            out.writeUInt64NoTag(pointer.lastOffset() - pointer.baseOffset());
        }
    }

    /** @throws IOException where it is not what {@link #encode} makes, of this version */
    static List<Offer> decode(byte[] field) throws IOException {
        CodedInputStream in = CodedInputStream.newInstance(field);
        if (in.readRawByte() != VERSION) {
            throw new IOException("pointers of another version than " + VERSION);
        }
        List<ByteString> extents = new ArrayList<>();
        for (int i = in.readUInt32(); i > 0; i--) {
            extents.add(in.readBytes());
        }
        List<Offer> offers = new ArrayList<>();
        for (int i = in.readUInt32(); i > 0; i--) {
            offers.add(offer(in, extents));
        }
        if (!in.isAtEnd()) {
            throw new IOException("bytes follow the pointers");
        }
        return offers;
    }

    private static Offer offer(CodedInputStream in, List<ByteString> extents) throws IOException {
        Uuid topicId = new Uuid(in.readFixed64(), in.readFixed64());
        int partition = in.readUInt32();
        int leaderEpoch = in.readUInt32();
        long highWatermark = in.readUInt64();
        long logStartOffset = in.readUInt64();
        long offset = in.readUInt64();
        List<Pointer> pointers = new ArrayList<>();
        for (int i = in.readUInt32(); i > 0; i--) {
            int extent = in.readUInt32();
            if (extent < 0 || extent >= extents.size()) {
                throw new IOException("a pointer into extent " + extent + " of " + extents.size());
            }
            int position = in.readUInt32();
            int length = in.readUInt32();
            long last = offset + in.readUInt64();
            pointers.add(new Pointer(extents.get(extent), position, length, offset, last));
            offset = last + 1;
        }
        return new Offer(topicId, partition, leaderEpoch, highWatermark, logStartOffset, pointers);
    }
}
