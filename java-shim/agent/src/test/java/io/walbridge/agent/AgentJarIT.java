// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;

/** The jar that is installed. */
class AgentJarIT {
    static final Path JAR = Path.of("target", "walbridge-agent.jar");

    @Test
    void bringsNoClassUnderAnothersName() throws IOException {
        try (JarFile jar = new JarFile(JAR.toFile())) {
            List<String> foreign = jar.stream()
                    .map(entry -> entry.getName().replaceFirst("^META-INF/versions/\\d+/", ""))
                    .filter(name -> name.endsWith(".class") && !name.endsWith("module-info.class"))
                    .filter(name -> !name.startsWith("io/walbridge/"))
                    .filter(name -> !name.startsWith("org/apache/kafka/server/log/remote/storage/RemoteWal"))
                    .toList();
            assertEquals(List.of(), foreign);
        }
    }

    @Test
    void bringsWhatTheManifestNames() throws IOException {
        try (JarFile jar = new JarFile(JAR.toFile())) {
            assertEquals(Agent.class.getName(), jar.getManifest().getMainAttributes().getValue("Premain-Class"));
            assertTrue(jar.stream().anyMatch(entry -> entry.getName().equals("io/walbridge/agent/Agent.class")));
        }
    }

    /** What lies under its name is always whole: a broker that starts during a build must not get a part of it. */
    @Test
    void isNotWhereThePlainJarIsWritten() throws IOException {
        Path plain = Path.of("target", "walbridge-agent-plain.jar");
        try (JarFile jar = new JarFile(plain.toFile()); JarFile whole = new JarFile(JAR.toFile())) {
            assertTrue(jar.stream().allMatch(entry -> whole.getEntry(entry.getName()) != null
                    || entry.getName().startsWith("META-INF/")));
            assertTrue(whole.size() > 2 * jar.size());
        }
    }

    /** KAFKA_OPTS reaches every tool: the agent must not even need Kafka's jars there, nor say anything. */
    @Test
    void leavesOtherJvmsAlone() throws Exception {
        Process java = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-javaagent:" + JAR.toAbsolutePath(), "-Xlog:class+load:stdout:tags", "-version")
                .redirectErrorStream(true).start();
        String output = new String(java.getInputStream().readAllBytes());
        assertTrue(java.waitFor(30, TimeUnit.SECONDS));
        assertEquals(0, java.exitValue(), output);
        assertEquals(List.of("io.walbridge.agent.Agent"), output.lines().map(String::strip)
                .filter(line -> line.contains("io.walbridge"))
                .map(line -> line.replaceFirst(".*(io\\.walbridge[\\w.$]*).*", "$1")).distinct().toList());
    }
}
