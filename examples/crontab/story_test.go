package crontab_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/test/harness"
)

// answers is what the commands of the README must print, each searched from
// where the one before was found.
var answers = []struct{ command, output string }{
	{"crd/crontabs.example.com", "condition met"},
	{"kubectl apply -f examples/crontab/crontab-v1beta1.yaml", "local-crontab created"},
	{"kubectl wait --for=condition=Ready wasmmodule/crontab", "condition met"},
	{"kubectl get crontabs.v1beta1.example.com local-crontab", "localhost:1234"},
	{"kubectl get crontabs.v1.example.com local-crontab", "localhost 1234"},
	{"kubectl apply -f examples/crontab/crontab-v1.yaml", "remote-crontab created"},
	{"kubectl get crontabs.v1beta1.example.com remote-crontab", "example.com:"},
	{"storedVersions", `["v1beta1","v1"]`},
	{"! kubectl apply -f examples/crontab/crd-v1-only.yaml", "status.storedVersions[0]: Invalid value: \"v1beta1\""},
	{"migrate crontabs.example.com", "crontabs.example.com migrated: 2 objects"},
	{"storedVersions", `["v1"]`},
	{"kubectl apply -f examples/crontab/crd-v1-only.yaml", "crontabs.example.com configured"},
	{"kubectl get crontabs.v1.example.com", "remote-crontab"},
}

// TestStory runs the commands of README.md, in order, against a gateway that
// it starts itself, with the built program in place of "go run .".
func TestStory(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	g := harness.Start(t, harness.Options{})
	s := newShell(t, g)
	left := answers
	for _, command := range commands(string(readme)) {
		if command == "go run . serve" || strings.HasPrefix(command, "export KUBECONFIG=") {
			continue // the gateway runs already
		}
		out := s.run(t, command)
		if len(left) > 0 && strings.Contains(command, left[0].command) {
			if !strings.Contains(out, left[0].output) {
				t.Fatalf("%s\nprinted\n%s\nwant %q in it", command, out, left[0].output)
			}
			left = left[1:]
		}
	}
	if len(left) > 0 {
		t.Errorf("the README has no command %q where it is expected", left[0].command)
	}
}

// commands are the lines of the sh blocks of a Markdown text.
func commands(markdown string) []string {
	var all []string
	in := false
	for _, line := range strings.Split(markdown, "\n") {
		switch {
		case line == "```sh":
			in = true
		case strings.HasPrefix(line, "```"):
			in = false
		case in && strings.TrimSpace(line) != "":
			all = append(all, line)
		}
	}
	return all
}

// shell runs commands at the top of the repository with kubectl in its path.
type shell struct {
	env     []string
	replace *strings.Replacer
}

func newShell(t *testing.T, g *harness.Gateway) *shell {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(harness.KubectlPath(t), filepath.Join(dir, "kubectl")); err != nil {
		t.Fatal(err)
	}
	return &shell{
		env: append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"),
			"KUBECONFIG="+g.Kubeconfig, "KUBECACHEDIR="+filepath.Join(dir, "cache")),
		// The module goes where it does not litter the repository.
		replace: strings.NewReplacer("go run .", g.Binary, "crontab.wasm", filepath.Join(dir, "crontab.wasm")),
	}
}

// run runs one line and returns what it printed. A line that starts with "!"
// has to fail, every other has to succeed.
func (s *shell) run(t *testing.T, line string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	script, mustFail := strings.CutPrefix(line, "! ")
	cmd := exec.CommandContext(ctx, "bash", "-c", s.replace.Replace(script))
	cmd.Dir, cmd.Env = filepath.Join("..", ".."), s.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); (err != nil) != mustFail {
		t.Fatalf("%s: %v\n%s", line, err, out.String())
	}
	return out.String()
}
