package docs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// envtestLanguage is a language that sdk/envtest has a package for.
type envtestLanguage struct {
	folder string
	// program runs its own tests with these arguments; ran is what is printed of those.
	program, install string
	args             []string
	ran              string
	// file is where docs/envtest.md has its block of code, marked so.
	file, block string
}

var envtestLanguages = map[string]envtestLanguage{
	"JavaScript": {"js", "node", "apt-get install nodejs npm", []string{"--test", "--test-reporter=tap"}, `(?m)^# pass [1-9]\d*$[^$]*^# skipped 0$`, "namespaces.test.mjs", "js"},
	"Python":     {"python", "python3", "apt-get install python3", []string{"-m", "unittest", "discover", "-s", "tests"}, `(?m)^Ran [1-9]\d* tests in .*\n\nOK$`, "test_namespaces.py", "python"},
}

// environment is that of a shell where somebody has the programs of the documents.
func (l envtestLanguage) environment(t *testing.T) []string {
	t.Helper()
	if _, err := exec.LookPath(l.program); err != nil {
		plugintest.Absent(t, l.program, l.install)
	}
	bin := t.TempDir()
	link(t, harness.KubectlPath(t), filepath.Join(bin, "kubectl"))
	link(t, harness.Binary(t), filepath.Join(bin, "wasmgate"))
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir(), "PYTHONDONTWRITEBYTECODE=1",
		"WASMGATE="+checkout, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// TestEnvtestInOtherLanguages runs the tests that the packages of sdk/envtest have.
func TestEnvtestInOtherLanguages(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	for name, l := range envtestLanguages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, l.program, l.args...)
			cmd.Dir, cmd.Env = filepath.Join(root, "sdk", "envtest", l.folder), l.environment(t)
			out, err := cmd.CombinedOutput()
			if err != nil || !regexp.MustCompile(l.ran).Match(out) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestEnvtestDocInOtherLanguages writes the tests that docs/envtest.md shows in these languages
// into an empty folder, and types its commands.
func TestEnvtestDocInOtherLanguages(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs", "envtest.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## In JavaScript and Python\n")
	for name, l := range envtestLanguages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, shown, ok := strings.Cut(section, "In "+name+" `"+l.file+"` is\n\n```"+l.block+"\n")
			source, after, closed := strings.Cut(shown, "```")
			if !ok || !closed {
				t.Fatalf("docs/envtest.md shows no %s", l.file)
			}
			env, dir := l.environment(t), t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, l.file), []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			if printed := harness.Shell(t, dir, env, indented(after)[0]); !regexp.MustCompile(`pass 1\b|Ran 1 test `).MatchString(printed) {
				t.Errorf("%s", printed)
			}
		})
	}
}
