package artifact_test

import (
	"os/exec"
	"testing"

	"github.com/walbridge/walbridge/integration/artifact"
)

// Brokers of other tests start from the jars while a document's `make agent` runs: there must be nothing to do for it.
func TestJarsAreNotBuiltAgain(t *testing.T) {
	root, err := artifact.Root()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := artifact.AgentJar(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "make", "--question", "agent")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make agent would build the jars again, run it first: %v\n%s", err, out)
	}
}
