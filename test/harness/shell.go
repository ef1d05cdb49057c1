package harness

import (
	"bytes"
	"context"
	"os/exec"
	"testing"
	"time"
)

// Shell types a script into bash, in a folder and with an environment, and returns what
// is printed. A command that fails ends the test, as does a quarter of an hour: on two slow cores,
// beside other tests, a module in Rust takes seven minutes to compile for the first time.
func Shell(t testing.TB, dir string, env []string, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-e", "-c", script)
	cmd.Dir, cmd.Env = dir, env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out.String())
	}
	return out.String()
}
