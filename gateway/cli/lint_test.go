package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const lintedCRD = `apiVersion: v1
kind: ConfigMap
metadata: {name: other}
data: {spec: x}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Tab, plural: tabs}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {a: {type: string, maxLength: 9}}}}
`

// lintFiles runs the command in a folder with a file that was changed since the
// revision before the last.
func lintFiles(t *testing.T, args ...string) (out string, status int) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	git("init", "-q")
	write("crd.yaml", lintedCRD)
	write("before.yaml", lintedCRD)
	write("none.yaml", "kind: ConfigMap\n")
	git("add", ".")
	git("commit", "-qm", "one")
	write("crd.yaml", strings.Replace(lintedCRD, "maxLength: 9", "maxLength: 8", 1))
	git("commit", "-qam", "two")
	write("crd.yaml", strings.Replace(lintedCRD, "maxLength: 9", "maxLength: 7", 1))
	root := New(Parts{})
	var text bytes.Buffer
	root.SetOut(&text)
	root.SetErr(&text)
	root.SetArgs(append([]string{"lint"}, args...))
	cmd, err := root.ExecuteContextC(t.Context())
	if err != nil {
		text.WriteString("Error: " + err.Error())
	}
	return text.String(), exitStatus(cmd, err)
}

func TestLint(t *testing.T) {
	for _, test := range []struct {
		args   string
		status int
		want   string
	}{
		{"-f before.yaml --against crd.yaml", 0, "nothing is broken\n"},
		{"-f crd.yaml --against before.yaml", 1, "DEFINITION         VERSION   PATH   RULE   WHAT\ntabs.example.com   v1        a      1      maxLength was 9 and is 7\nError: crd.yaml: the change breaks what clients rely on, see above"},
		{"-f crd.yaml --revision HEAD", 1, "maxLength was 8 and is 7"},
		{"-f crd.yaml --revision HEAD~1 --to-revision HEAD", 1, "maxLength was 9 and is 8"},
		{"-f crd.yaml --revision HEAD --to-revision HEAD", 0, "nothing is broken"},
		{"-f before.yaml --against crd.yaml -o json", 0, "[]\n"},
		{"-f crd.yaml --against before.yaml -o json", 1, `"path": "a",`},
		{"-f crd.yaml --against none.yaml", 2, "none.yaml: it has none of the CustomResourceDefinitions in crd.yaml"},
		{"-f crd.yaml", 2, "-f and one of --against, --revision and --stored are needed"},
		{"-f crd.yaml --against before.yaml --stored", 2, "-f and one of --against, --revision and --stored are needed"},
		{"-f none.yaml --against before.yaml", 2, "none.yaml: there is no CustomResourceDefinition in it"},
		{"-f absent.yaml --against before.yaml", 2, "absent.yaml: no such file"},
		{"-f crd.yaml --revision nothing", 2, "crd.yaml in nothing: "},
		{"-f crd.yaml --revision=--help", 2, `"--help" is no revision`},
	} {
		t.Run(test.args, func(t *testing.T) {
			if out, status := lintFiles(t, strings.Fields(test.args)...); status != test.status || !strings.Contains(out, test.want) {
				t.Errorf("%d: %s", status, out)
			}
		})
	}
}
