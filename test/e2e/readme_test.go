package e2e

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

const root = "../.."

// TestReadme types the README, block by block, from running it to the end of the
// five-minute story, in a folder that has what a clone has. What serves runs in
// one terminal; all else is typed in the other.
func TestReadme(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, story, _ := strings.Cut(string(text), "## Run it")
	story, _, _ = strings.Cut(story, "\nMore: ")
	dir, env := clone(t)
	built := strings.NewReplacer("go run . ", "./wasmgate ", "go build . && ./wasmgate ", "./wasmgate ")
	var serves *harness.Terminal
	var exports, printed strings.Builder
	for _, block := range indented(story) {
		switch {
		case block == "go test ./...": // is what runs
		case strings.HasSuffix(block, " serve"):
			if serves != nil {
				serves.Interrupt(t)
			}
			serves = harness.Type(t, dir, append(env, "WASMGATE_SECURE_PORT=0"), built.Replace(block))
			serves.Await(t, "Next, in another terminal:")
		case strings.HasPrefix(block, "export "):
			exports.WriteString(block + "\n")
		default:
			printed.WriteString(shell(t, dir, env, exports.String()+block))
		}
	}
	rest := printed.String()
	for _, want := range []string{"crontab.example.com/first created", "ready", "localhost 1234\n", "localhost:1234\n",
		`["v1beta1","v1"]`, "migrated: 1 object, 1 rewritten", `["v1"]`} {
		_, after, ok := strings.Cut(rest, want)
		if !ok {
			t.Fatalf("the story printed\n%s\nand %q is not where it should be", printed.String(), want)
		}
		rest = after
	}
	serves.Interrupt(t)
}

// clone is a folder like a clone of the repository in which wasmgate was built,
// and an environment in which there is a kubectl.
func clone(t *testing.T) (dir string, env []string) {
	t.Helper()
	from, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	dir, bin := t.TempDir(), t.TempDir()
	links := map[string]string{filepath.Join(dir, "wasmgate"): harness.Binary(t), filepath.Join(bin, "kubectl"): harness.KubectlPath(t)}
	for _, e := range entries {
		if name := e.Name(); !strings.HasPrefix(name, "wasmgate") && name != ".git" { // what was built and served there is not part of it
			links[filepath.Join(dir, name)] = filepath.Join(from, name)
		}
	}
	for link, target := range links {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	return dir, append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "KUBECONFIG=", "KUBECACHEDIR="+filepath.Join(bin, "cache"))
}

// TestModulesDoc builds the module that docs/writing-modules.md shows.
func TestModulesDoc(t *testing.T) {
	harness.SkipExternal(t)
	text, err := os.ReadFile(filepath.Join(root, "docs", "writing-modules.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, source, _ := strings.Cut(string(text), "```go\n")
	source, _, ok := strings.Cut(source, "```")
	if !ok {
		t.Fatal("docs/writing-modules.md shows no Go source")
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	shell(t, root, env, "go build -buildmode=c-shared -o "+filepath.Join(t.TempDir(), "my.wasm")+" "+file)
}

// typeDocument types the commands of a document, in order, against a gateway of
// its own; wasm is the file that they make. What they print has to hold all of
// want, in that order.
func typeDocument(t *testing.T, name, wasm string, want []string) {
	t.Helper()
	harness.SkipExternal(t)
	typeAt(t, harness.Start(t, harness.Options{Accounts: true}), root, name, wasm, want)
}

// typeAt is typeDocument in a folder, with a gateway that runs; what the commands make are
// the files that wasm names.
func typeAt(t *testing.T, g *harness.Gateway, folder, name, wasm string, want []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, target := range map[string]string{"kubectl": harness.KubectlPath(t), "wasmgate": g.Binary} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	env := append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"),
		"KUBECONFIG="+g.Kubeconfig, "KUBECACHEDIR="+filepath.Join(dir, "cache"))
	var printed strings.Builder
	for _, block := range indented(string(text)) {
		for _, file := range strings.Fields(wasm) {
			block = strings.ReplaceAll(block, file, filepath.Join(dir, file))
		}
		printed.WriteString(shell(t, folder, env, block))
	}
	rest, ok := printed.String(), false
	for _, w := range want {
		if _, rest, ok = strings.Cut(rest, w); !ok {
			t.Fatalf("the document's commands printed\n%s\nand %q is not where it should be", printed.String(), w)
		}
	}
}

// indented are the blocks of a Markdown text that are indented by four spaces.
func indented(markdown string) []string {
	var blocks []string
	var block []string
	for _, line := range append(strings.Split(markdown, "\n"), "end") {
		if code, ok := strings.CutPrefix(line, "    "); ok {
			block = append(block, code)
		} else if strings.TrimSpace(line) != "" && len(block) > 0 {
			blocks = append(blocks, strings.Join(block, "\n"))
			block = nil
		}
	}
	return blocks
}

func shell(t *testing.T, dir string, env []string, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
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
