// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/** The running Kafka's version, as its jar says; the class that tells it moved in 4.4. */
final class KafkaVersion {
    private static final String RESOURCE = "/kafka/kafka-version.properties";

    private KafkaVersion() {}

    static String get() {
        Properties properties = new Properties();
        try (InputStream in = KafkaVersion.class.getResourceAsStream(RESOURCE)) {
            if (in != null) {
                properties.load(in);
            }
        } catch (IOException e) {
            // It only goes into a message.
        }
        return properties.getProperty("version", "of unknown version");
    }
}
