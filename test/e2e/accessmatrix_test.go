package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestPathsAnswerNoMoreThanTheirTableSays_RBAC asks for every path of the table in
// docs/access.md as everybody that it has a column for.
func TestPathsAnswerNoMoreThanTheirTableSays_RBAC(t *testing.T) {
	harness.SkipExternal(t)
	tokens := filepath.Join(t.TempDir(), "tokens.csv")
	if err := os.WriteFile(tokens, []byte("plain,plain,1\nviewer,viewer,2\neditor,editor,3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := harness.Start(t, harness.Options{Args: []string{"--token-auth-file", tokens}})
	k := g.Kubectl(t)
	for _, role := range []string{"view", "edit"} {
		who := map[string]string{"view": "viewer", "edit": "editor"}[role]
		if _, said, err := k.Run("create", "rolebinding", who, "--clusterrole="+role, "--user="+who); err != nil {
			t.Fatalf("%v %s", err, said)
		}
	}
	doc, err := os.ReadFile("../../docs/access.md")
	if err != nil {
		t.Fatal(err)
	}
	as := []string{"-", "plain", "viewer", "editor", g.API(t).Token}
	asked := 0
	for line := range strings.Lines(string(doc)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "| `GET /") || len(cells) != 1+len(as) {
			continue
		}
		path := strings.TrimPrefix(strings.Trim(cells[0], " `"), "GET ")
		for i, token := range as {
			api := g.API(t)
			api.Token = token
			got := api.Get(path)
			if want := strings.TrimSpace(cells[i+1]); strconv.Itoa(got.Code) != want {
				t.Errorf("GET %s as %q: %d, want %s", path, []string{"nobody", "plain", "viewer", "editor", "administrator"}[i], got.Code, want)
			}
			asked++
		}
	}
	if asked < 100 {
		t.Errorf("the table has %d cells", asked)
	}
}
