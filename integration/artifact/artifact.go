// Package artifact finds what an integration runs and something else has built, and says which command builds it.
package artifact

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// MissingError is the error for something that is not there.
type MissingError struct {
	// What is missing, and the command that brings it.
	What, Command string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s is missing; run: %s", e.What, e.Command)
}

// Root is the repository's directory: the nearest one above the working directory that has a go.mod.
func Root() (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("find the repository: no go.mod in or above %s", wd)
		}
	}
}

// Java is the JVM's launcher.
func Java() (string, error) { return tool("java", "apt-get install -y openjdk-17-jdk-headless") }

// JDK is the launcher of a JDK of the feature release, such as 25: the one that JAVA_HOME_<release> names or, where it
// names none, one where Linux distributions put them.
func JDK(release int) (string, error) {
	variable := fmt.Sprintf("JAVA_HOME_%d", release)
	homes, err := filepath.Glob("/usr/lib/jvm/*")
	if err != nil {
		return "", err
	}
	if home := os.Getenv(variable); home != "" {
		homes = []string{home}
	}
	of := regexp.MustCompile(fmt.Sprintf(`(?m)^JAVA_VERSION="%d\b`, release))
	for _, home := range homes {
		// What has no such file is no JDK.
		if about, _ := os.ReadFile(filepath.Join(home, "release")); of.Match(about) {
			return filepath.Join(home, "bin", "java"), nil
		}
	}
	return "", &MissingError{What: fmt.Sprintf("a JDK %d", release), Command: "export " + variable + "=<its directory>"}
}

// AgentJar is the one jar that is installed at a broker.
func AgentJar() (string, error) {
	return built("the agent", "java-shim/agent/target/walbridge-agent.jar", "make agent")
}

// VerifyJar is the verifier of stored entries.
func VerifyJar() (string, error) {
	return built("the verifier", "java-shim/verify/target/walbridge-verify.jar", "make agent")
}

// KafkaLibs is the directory with the jars of a stock Kafka broker of the version.
func KafkaLibs(version string) (string, error) {
	return built("Kafka "+version, ".cache/kafka/"+version+"/libs", "integration/kafka/install "+version)
}

func built(what, path, command string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	abs := filepath.Join(root, path)
	switch _, err := os.Stat(abs); {
	case errors.Is(err, os.ErrNotExist):
		return "", &MissingError{What: what + " (" + path + ")", Command: command}
	case err != nil:
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return abs, nil
}

func tool(name, command string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", &MissingError{What: name, Command: command}
	}
	return path, nil
}
