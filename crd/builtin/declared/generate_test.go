package declared

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/wasmgate/wasmgate/test/generating"
)

var write = flag.Bool("declared.write", false, "write what the generator makes of the types")

// known are packages whose rules others use, or that have none.
var known = []string{
	"k8s.io/apimachinery/pkg/apis/meta/v1", "k8s.io/apimachinery/pkg/api/resource", "k8s.io/apimachinery/pkg/runtime",
	"k8s.io/apimachinery/pkg/types", "k8s.io/apimachinery/pkg/util/intstr", "time",
}

// The rules that are checked in are what the generator makes of the tags of k8s.io/api.
// It has to make those of apimachinery at the same time, in a copy that can be written.
func TestRulesAreGenerated_DV04(t *testing.T) {
	const meta = "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	files := map[string]string{}
	for _, name := range []string{"doc.go", "custom.go"} {
		files["crd/builtin/declared/core/"+name] = generating.Read(t, "core/"+name)
	}
	dir := generating.Module(t, "../../..", files)
	machinery := filepath.Join(dir, "apimachinery")
	if err := os.CopyFS(machinery, os.DirFS(sourceOf(t, "k8s.io/apimachinery"))); err != nil {
		t.Fatal(err)
	}
	generating.Write(t, filepath.Join(dir, "go.mod"), generating.Read(t, filepath.Join(dir, "go.mod"))+"\nreplace k8s.io/apimachinery => ./apimachinery\n")
	var args []string
	for _, pkg := range known {
		args = append(args, "--readonly-pkg="+pkg)
	}
	if out, err := generating.Run(t, generating.Build(t), dir, append(args, "./crd/builtin/declared/core", meta)...); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	made := generating.Read(t, filepath.Join(dir, "crd/builtin/declared/core", generating.File))
	file := filepath.Join("core", generating.File)
	if *write {
		generating.Write(t, file, made)
	}
	if generating.Read(t, file) != made {
		t.Errorf("%s is not what the types say: go test ./crd/builtin/declared -declared.write", file)
	}
}

// sourceOf is where the source of a module is.
func sourceOf(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-json", module).Output()
	var m struct{ Dir string }
	if err == nil {
		err = json.Unmarshal(out, &m)
	}
	if err != nil || m.Dir == "" {
		t.Fatalf("%v: %s", err, out)
	}
	return m.Dir
}
