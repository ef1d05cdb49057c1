package harness

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var kubectl = &program{
	name: "kubectl",
	dir:  func() string { return filepath.Join(root(), "test", "harness", "kubectl") },
	// kubectl wants to know its own version.
	args: []string{"-ldflags", "-X k8s.io/component-base/version.gitVersion=v1.37.2"},
}

// kubectlTimeout ends a kubectl that hangs; everything the tests ask of it
// takes seconds.
const kubectlTimeout = 2 * time.Minute

// Runner runs kubectl against one server, with a home folder of its own.
type Runner struct {
	t    testing.TB
	path string
	env  []string
	// Dir is where commands run; relative file names refer to it. It starts as
	// an empty temporary folder.
	Dir string
}

// KubectlPath builds kubectl from source, once per test process, and returns
// its path. A first build with an empty build cache takes minutes.
func KubectlPath(t testing.TB) string {
	t.Helper()
	return kubectl.build(t)
}

// Kubectl returns a runner of a real kubectl with the server's kubeconfig.
func (s *Server) Kubectl(t testing.TB) *Runner {
	t.Helper()
	home := t.TempDir()
	return &Runner{
		t: t, path: KubectlPath(t), Dir: t.TempDir(),
		env: []string{"HOME=" + home, "KUBECONFIG=" + s.Kubeconfig, "TMPDIR=" + t.TempDir(), "PATH=" + os.Getenv("PATH")},
	}
}

// Setenv adds an environment variable for later runs.
func (k *Runner) Setenv(name, value string) { k.env = append(k.env, name+"="+value) }

// Run runs kubectl and returns what it printed; err is set when it exited with
// anything but zero.
func (k *Runner) Run(args ...string) (stdout, stderr string, err error) {
	return k.RunInput("", args...)
}

// RunInput is Run with standard input.
func (k *Runner) RunInput(input string, args ...string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), kubectlTimeout)
	defer cancel()
	var out, errOut bytes.Buffer
	cmd := k.Command(ctx, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errOut
	err = cmd.Run()
	return out.String(), errOut.String(), err
}

// Command prepares a kubectl command that ends with ctx.
func (k *Runner) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, k.path, args...)
	cmd.Env, cmd.Dir = k.env, k.Dir
	return cmd
}

// Must runs kubectl, fails the test when it fails, and returns its output.
func (k *Runner) Must(args ...string) string {
	k.t.Helper()
	return k.MustInput("", args...)
}

// MustInput is Must with standard input.
func (k *Runner) MustInput(input string, args ...string) string {
	k.t.Helper()
	out, errOut, err := k.RunInput(input, args...)
	if err != nil {
		k.t.Fatalf("kubectl %s: %v\n%s%s", strings.Join(args, " "), err, out, errOut)
	}
	return out
}

// Fail runs kubectl, fails the test unless it fails, and returns what it
// printed as its error.
func (k *Runner) Fail(args ...string) string {
	k.t.Helper()
	out, errOut, err := k.Run(args...)
	if err == nil {
		k.t.Fatalf("kubectl %s succeeded:\n%s%s", strings.Join(args, " "), out, errOut)
	}
	return errOut
}

// File writes a file into the runner's folder and returns its name.
func (k *Runner) File(name, content string) string {
	k.t.Helper()
	if err := os.WriteFile(filepath.Join(k.Dir, name), []byte(content), 0o644); err != nil {
		k.t.Fatal(err)
	}
	return name
}
