package io.walbridge.shim;

import com.google.protobuf.ByteString;

import java.util.zip.CRC32C;

/** CRC-32C as the service's messages carry it. */
final class Checksum {

    private Checksum() {
    }

    static int of(ByteString bytes) {
        CRC32C crc = new CRC32C();
        for (var part : bytes.asReadOnlyByteBufferList()) {
            crc.update(part);
        }
        return (int) crc.getValue();
    }
}
