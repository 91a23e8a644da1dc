// Package jmx reads the numbers that a JVM shows over JMX.
package jmx

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"time"

	"github.com/walbridge/walbridge/integration/artifact"
)

// Options are the options of a JVM that shows its MBeans at that port of loopback, to everybody.
func Options(port int) []string {
	return []string{
		fmt.Sprintf("-Dcom.sun.management.jmxremote.port=%d", port),
		fmt.Sprintf("-Dcom.sun.management.jmxremote.rmi.port=%d", port),
		"-Dcom.sun.management.jmxremote.host=127.0.0.1",
		"-Dcom.sun.management.jmxremote.authenticate=false",
		"-Dcom.sun.management.jmxremote.ssl=false",
		"-Djava.rmi.server.hostname=127.0.0.1",
	}
}

// Numbers are numeric attributes, by MBean and name.
type Numbers map[string]map[string]float64

// Read reads the numeric attributes of the MBeans, of those that there are. It takes at most half a minute.
func Read(ctx context.Context, port int, beans ...string) (Numbers, error) {
	jar, err := artifact.VerifyJar()
	if err != nil {
		return nil, err
	}
	java, err := artifact.Java()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	// The JVM lives for a second: not worth an optimizing compiler.
	args := append([]string{"-Xmx64m", "-XX:TieredStopAtLevel=1", "-cp", jar, "io.walbridge.verify.MBeans",
		fmt.Sprintf("127.0.0.1:%d", port)}, beans...)
	cmd := exec.CommandContext(ctx, java, args...)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("read MBeans at port %d: %w: %s", port, err, problem.Bytes())
	}
	numbers := Numbers{}
	if err := json.Unmarshal(out, &numbers); err != nil {
		return nil, fmt.Errorf("MBeans at port %d: %w", port, err)
	}
	return numbers, nil
}
