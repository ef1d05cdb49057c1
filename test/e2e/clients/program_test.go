package clients

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// programTimeout ends a program that hangs.
const programTimeout = 4 * time.Minute

// message is one line of a program's output: the outcome of a step, a wish, or
// the end.
type message struct {
	Step     string `json:"step"`
	OK       bool   `json:"ok"`
	Skipped  string `json:"skipped"`
	Message  string `json:"message"`
	Ask      string `json:"ask"`
	Finished bool   `json:"finished"`
}

// program is a client program; cmd has everything but its plumbing.
type program struct {
	cmd *exec.Cmd
	// grant does what the program asks for and tells whether it could.
	grant func(t *testing.T, what string) bool
}

// run runs the program and reports each of its steps as a sub-test. A program
// that ends before it says that it has finished fails the test.
func (p program) run(t *testing.T) {
	t.Helper()
	var stderr bytes.Buffer
	p.cmd.Stderr = &stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	finished := p.follow(t, in, out)
	if err := p.cmd.Wait(); err != nil || !finished {
		t.Errorf("the program ended (%v) and had finished: %t\n%s", err, finished, stderr.Bytes())
	}
}

// follow reads what the program says until it says no more.
func (p program) follow(t *testing.T, in io.Writer, out io.Reader) (finished bool) {
	t.Helper()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Errorf("not a message: %s", lines.Bytes())
			continue
		}
		switch {
		case m.Finished:
			finished = true
		case m.Ask != "":
			reply := "cannot"
			if p.grant(t, m.Ask) {
				reply = "done"
			}
			if _, err := fmt.Fprintln(in, reply); err != nil {
				t.Errorf("reply to %q: %v", m.Ask, err)
			}
		default:
			t.Run(m.Step, m.report)
		}
	}
	if err := lines.Err(); err != nil {
		t.Error(err)
	}
	return finished
}

func (m message) report(t *testing.T) {
	switch {
	case m.Skipped != "":
		t.Skip(m.Skipped)
	case !m.OK:
		t.Error(m.Message)
	}
}

// command prepares a client program; its first argument is the program itself.
func command(t *testing.T, kubeconfig, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), programTimeout)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	// Clients keep caches of what a server serves in their home and temporary folders.
	cmd.Env = []string{"KUBECONFIG=" + kubeconfig, "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(),
		"PATH=" + os.Getenv("PATH"), "PYTHONDONTWRITEBYTECODE=1"}
	return cmd
}

// absent ends the test of a client that is not installed.
func absent(t *testing.T, client, install string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is absent, and CI must have it; install it with: %s", client, install)
	}
	t.Skipf("%s is absent; install it with: %s", client, install)
}
