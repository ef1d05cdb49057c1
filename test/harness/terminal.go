package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Terminal is where a command runs that does not end by itself.
type Terminal struct {
	proc    *process
	printed *os.File
}

// Type types a command into a terminal of its own, in a folder, and leaves it
// running until [Terminal.Interrupt] or the end of the test.
func Type(t testing.TB, dir string, env []string, command string) *Terminal {
	t.Helper()
	printed, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { printed.Close() })
	cmd := exec.Command("bash", "-c", "exec "+command) // the command itself gets the signals
	cmd.Dir, cmd.Env = dir, env
	p, err := startProcess(cmd, printed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.end(syscall.SIGKILL, startTimeout) })
	return &Terminal{p, printed}
}

// Await waits until the command has printed a text.
func (x *Terminal) Await(t testing.TB, text string) {
	t.Helper()
	err := x.proc.await(startTimeout, "at "+text, func() (bool, error) {
		all, err := os.ReadFile(x.printed.Name())
		return strings.Contains(string(all), text), fmt.Errorf("it printed %q, %v", all, err)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Interrupt is Ctrl-C. A command that does not end by it, or ends with an error,
// fails the test.
func (x *Terminal) Interrupt(t testing.TB) {
	t.Helper()
	if err := x.proc.end(syscall.SIGINT, startTimeout); err != nil {
		t.Fatal(err)
	}
	if code := x.proc.exitCode(); code != 0 {
		t.Fatalf("it ended with exit code %d", code)
	}
}
