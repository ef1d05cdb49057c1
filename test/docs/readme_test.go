package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

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
			printed.WriteString(harness.Shell(t, dir, env, exports.String()+block))
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
	t.Parallel()
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
	harness.Shell(t, root, env, "go build -buildmode=c-shared -o "+filepath.Join(t.TempDir(), "my.wasm")+" "+file)
}
