package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

func TestInitWritesAProject(t *testing.T) {
	from, to, dir := written(t, "old.yaml", "old"), written(t, "new.yaml", "new"), filepath.Join(t.TempDir(), "p")
	b := &bench{operations: []workbench.Operation{
		{From: "v1", To: "v2", Field: "spec.a", Rule: `{"rename":{"field":"spec.a","to":"b"}}`, Check: true, Why: "the names are alike"},
		{From: "v1", To: "v2", Field: "spec.c", Why: "it goes"}}}
	out, exit, err := b.run(t, "module", "init", dir, "--from", from, "--to", to, "--name", "n", "--language", "go")
	if exit != 0 || !strings.Contains(out, "v1:v2   CHECK   spec.a   rename      the names are alike\n") ||
		!strings.Contains(out, "w: 2 operations, 1 to check; 1 file.") {
		t.Errorf("status %d, %v\n%s", exit, err, out)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a", "b.yaml")); err != nil || string(text) != "old" {
		t.Errorf("the file has %q, %v", text, err)
	}
	if d := b.drafted; string(d.From) != "old" || string(d.To) != "new" || d.Name != "n" || d.Language != "go" {
		t.Errorf("asked for %+v", d)
	}
	if _, _, err := b.run(t, "module", "init", dir, "--force", "--from", from, "--to", from); err != nil || string(b.drafted.From) != "old" || string(b.drafted.To) != "old" {
		t.Errorf("one file for both: asked for %+v, %v", b.drafted, err)
	}
	if out, exit, _ := b.run(t, "module", "init", dir, "--from", from); exit != 2 || out != "" {
		t.Errorf("over files that are there: status %d\n%s", exit, out)
	}
	if out, exit, err := b.run(t, "module", "init", dir, "--force", "-o", "json"); exit != 0 || !strings.Contains(out, `"check": true`) || strings.Contains(out, "Files") {
		t.Errorf("status %d, %v\n%s", exit, err, out)
	}
}

func TestInitSaysWhatIsWrong(t *testing.T) {
	empty := written(t, "empty.yaml", "")
	for _, c := range []struct {
		b    bench
		args []string
		want string
	}{
		{bench{}, nil, "an argument is missing"},
		{bench{}, []string{"d", "--language", "cobol"}, "--language cobol is not known: want one of rules, go"},
		{bench{}, []string{"d", "--name", "Bad_Name"}, "--name Bad_Name cannot be the name of a module or of rules: a lowercase RFC 1123 subdomain"},
		{bench{}, []string{"d", "--to", "x"}, "--to needs --from"},
		{bench{}, []string{"d", "--from", "none.yaml"}, "none.yaml: no such file"},
		{bench{}, []string{"d", "--from", empty}, "empty.yaml is empty"},
		{bench{}, []string{empty}, "empty.yaml is a file: name a folder"},
		{bench{err: errors.New("there is one version")}, []string{"d"}, "there is one version"},
	} {
		t.Chdir(t.TempDir())
		if _, exit, err := c.b.run(t, append([]string{"module", "init"}, c.args...)...); exit != 2 || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: status %d, %v", c.args, exit, err)
		}
		if _, err := os.Stat("d"); err == nil {
			t.Errorf("%q: files were written", c.args)
		}
	}
}

func TestWhatIsCounted(t *testing.T) {
	for n, want := range map[int64]string{0: "0 operations", 1: "1 operation", 2: "2 operations"} {
		if got := counted(n, "operation"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
