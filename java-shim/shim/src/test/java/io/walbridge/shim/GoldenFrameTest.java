package io.walbridge.shim;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.walbridge.proto.frame.v1.Entry;
import io.walbridge.proto.frame.v1.FrameIndex;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.zip.CRC32C;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A reader of docs/format.md in another language than the daemon's, on the vectors that the daemon's code made. */
class GoldenFrameTest {

    private static final Path VECTORS = Path.of("../../proto/walbridge/frame/v1/testdata");
    private static final HexFormat HEX = HexFormat.of();

    @Test
    void frame() throws IOException {
        JsonObject want = json("frame.json");
        byte[] frame = Files.readAllBytes(VECTORS.resolve("frame.bin"));
        ByteBuffer header = ByteBuffer.wrap(frame, 0, 32);
        assertEquals("WBFR", new String(frame, 0, 4, StandardCharsets.US_ASCII));
        assertEquals(1 << 24, header.getInt(4), "version, flags, reserved");
        int indexLength = header.getInt(8);
        assertEquals(want.get("index_length").getAsInt(), indexLength);
        assertEquals(crc(frame, 32, indexLength), header.getInt(12));
        assertEquals(want.get("data_length").getAsLong(), header.getLong(16));
        assertEquals(0, header.getInt(24));
        assertEquals(crc(frame, 0, 28), header.getInt(28));
        assertEquals(want.get("size").getAsInt(), 32 + indexLength + header.getLong(16));
        assertEquals(want.get("crc32c").getAsString(), HEX.toHexDigits(crc(frame, 0, frame.length)));

        FrameIndex index = FrameIndex.parseFrom(ByteBuffer.wrap(frame, 32, indexLength));
        assertEquals(want.get("cluster_id").getAsString(), index.getClusterId());
        assertEquals(want.get("broker_id").getAsInt(), index.getBrokerId());
        assertEquals(want.get("incarnation").getAsInt(), index.getIncarnation());
        assertEquals(want.getAsJsonArray("entries").size(), index.getEntriesCount());
        int position = 32 + indexLength;
        for (int i = 0; i < index.getEntriesCount(); i++) {
            Entry entry = index.getEntries(i);
            assertEntry(want.getAsJsonArray("entries").get(i).getAsJsonObject(), entry, frame);
            assertEquals(position, entry.getPosition());
            position += entry.getLength();
        }
        assertEquals(frame.length, position);
    }

    @Test
    void extent() throws IOException {
        JsonObject want = json("extent.json");
        byte[] bytes = HEX.parseHex(want.get("hex").getAsString());
        assertEquals(48, bytes.length);
        ByteBuffer extent = ByteBuffer.wrap(bytes);
        assertEquals(1 << 24, extent.getInt(0), "version, reserved");
        assertEquals(want.get("broker").getAsInt(), extent.getInt(4));
        assertEquals(want.get("incarnation").getAsInt(), extent.getInt(8));
        assertEquals(want.get("position").getAsLong(), extent.getLong(28));
        assertEquals(want.get("length").getAsInt(), extent.getInt(36));
        assertEquals(want.get("crc32c").getAsString(), HEX.toHexDigits(extent.getInt(40)));
        assertEquals(crc(bytes, 0, 44), extent.getInt(44));
        assertTrue(want.get("object").getAsString().endsWith("/" + want.get("ulid").getAsString()));

        byte[] frame = Files.readAllBytes(VECTORS.resolve("frame.bin"));
        assertEquals(frame.length, extent.getInt(36));
        assertEquals(crc(frame, 0, frame.length), extent.getInt(40));
    }

    private static void assertEntry(JsonObject want, Entry entry, byte[] frame) {
        assertEquals(want.get("topic_id").getAsString(), HEX.formatHex(entry.getTopicId().toByteArray()));
        assertEquals(want.get("topic").getAsString(), entry.getTopic());
        assertEquals(want.get("partition").getAsInt(), entry.getPartition());
        assertEquals(want.get("segment_id").getAsString(), HEX.formatHex(entry.getSegmentId().toByteArray()));
        assertEquals(want.get("restorable").getAsBoolean(), entry.getRestorable());
        assertEquals(want.get("broker_epoch").getAsLong(), entry.getBrokerEpoch());
        assertEquals(want.get("leader_epoch").getAsInt(), entry.getLeaderEpoch());
        assertEquals(want.getAsJsonArray("lineage").size(), entry.getLineageCount());
        for (int i = 0; i < entry.getLineageCount(); i++) {
            JsonObject start = want.getAsJsonArray("lineage").get(i).getAsJsonObject();
            assertEquals(start.get("epoch").getAsInt(), entry.getLineage(i).getEpoch());
            assertEquals(start.get("start_offset").getAsLong(), entry.getLineage(i).getStartOffset());
        }
        assertEquals(want.get("base_offset").getAsLong(), entry.getBaseOffset());
        assertEquals(want.get("last_offset").getAsLong(), entry.getLastOffset());
        assertEquals(want.get("max_timestamp_ms").getAsLong(), entry.getMaxTimestampMs());
        assertEquals(want.get("log_start_offset").getAsLong(), entry.getLogStartOffset());
        assertEquals(want.get("log_dir_id").getAsString(), HEX.formatHex(entry.getLogDirId().toByteArray()));
        assertEquals(want.get("segment_bytes").getAsInt(), entry.getSegmentBytes());
        assertEquals(want.get("position").getAsInt(), entry.getPosition());
        assertEquals(want.get("length").getAsInt(), entry.getLength());
        assertEquals(want.get("crc32c").getAsString(), HEX.toHexDigits(entry.getCrc32C()));
        assertEquals(entry.getCrc32C(), crc(frame, entry.getPosition(), entry.getLength()));
        assertEquals(want.get("bytes").getAsString(),
                HEX.formatHex(frame, entry.getPosition(), entry.getPosition() + entry.getLength()));
    }

    private static JsonObject json(String name) throws IOException {
        return JsonParser.parseString(Files.readString(VECTORS.resolve(name))).getAsJsonObject();
    }

    private static int crc(byte[] bytes, int position, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, position, length);
        return (int) crc.getValue();
    }
}
