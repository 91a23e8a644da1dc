// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;

/** A jar that is not what it was, under a JVM that runs from it: the broker serves, and one line on stderr tells. */
class OverwrittenJarIT {
    private static final String AGENT = Agent.class.getName().replace('.', '/') + ".class";

    @TempDir
    Path directory;
    private Path jar;

    @BeforeEach
    void copy() throws IOException {
        jar = Files.copy(AgentJarIT.JAR, directory.resolve("agent.jar"), StandardCopyOption.REPLACE_EXISTING);
    }

    @Test
    void isNotReportedWhereItIsWhole() throws Exception {
        assertEquals(List.of(), reported());
    }

    @Test
    void truncated() throws Exception {
        assertReported(reported(jar, Files.createFile(directory.resolve("empty"))));
    }

    @Test
    void overwrittenByAnother() throws Exception {
        assertReported(reported(jar, Path.of("target", "walbridge-agent-plain.jar")));
    }

    /** As where it is overwritten before premain has run. */
    @Test
    void withoutWhatPremainNeeds() throws Exception {
        try (JarFile whole = new JarFile(AgentJarIT.JAR.toFile());
                OutputStream out = Files.newOutputStream(jar);
                JarOutputStream part = new JarOutputStream(out, whole.getManifest())) {
            part.putNextEntry(new JarEntry(AGENT));
            whole.getInputStream(whole.getEntry(AGENT)).transferTo(part);
        }
        assertReported(reported());
    }

    private static void assertReported(List<String> lines) {
        assertEquals(List.of("Walbridge is off: its agent failed with java.lang.NoClassDefFoundError; "
                + "was its jar overwritten, not replaced, under this JVM?"), lines);
    }

    /** Runs the broker's stand-in, which must serve whatever the jar is, and returns what the agent says on stderr. */
    private List<String> reported(Path... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-javaagent:" + jar,
                "-cp", String.join(File.pathSeparator, from(kafka.Kafka.class), from(LoggerFactory.class)),
                "kafka.Kafka"));
        for (Path argument : arguments) {
            command.add(argument.toAbsolutePath().toString());
        }
        Path errors = directory.resolve("stderr");
        Process java = new ProcessBuilder(command).redirectError(errors.toFile()).start();
        String output = new String(java.getInputStream().readAllBytes());
        assertTrue(java.waitFor(60, TimeUnit.SECONDS));
        assertEquals("0 served", java.exitValue() + " " + output.strip(), () -> errors.toUri().toString());
        return Files.readAllLines(errors).stream().filter(line -> line.startsWith("Walbridge")).toList();
    }

    private static String from(Class<?> type) throws URISyntaxException {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    }
}
