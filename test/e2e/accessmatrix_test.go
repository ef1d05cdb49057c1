package e2e

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

var writeMatrix = flag.Bool("access.write", false, "write what is answered into the table of docs/access.md")

// TestPathsAnswerNoMoreThanTheirTableSays_RBAC asks for every path of the table in
// docs/access.md as everybody that it has a column for.
func TestPathsAnswerNoMoreThanTheirTableSays_RBAC(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	as := []string{"-", "plain", "viewer", "editor", "module-author", "crd-author"}
	var lines strings.Builder
	for i, who := range as[1:] {
		lines.WriteString(who + "," + who + "," + strconv.Itoa(i) + "\n")
	}
	tokens := filepath.Join(t.TempDir(), "tokens.csv")
	if err := os.WriteFile(tokens, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	g := harness.Start(t, harness.Options{Args: []string{"--token-auth-file", tokens}})
	k := g.Kubectl(t)
	k.Must("create", "rolebinding", "viewer", "--clusterrole=view", "--user=viewer")
	k.Must("create", "rolebinding", "editor", "--clusterrole=edit", "--user=editor")
	for _, who := range as[4:] {
		k.Must("create", "clusterrolebinding", who, "--clusterrole=wasmgate:"+who, "--user="+who)
	}
	const file = "../../docs/access.md"
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	as = append(as, g.API(t).Token)
	asked, answered := 0, ""
	for line := range strings.Lines(string(doc)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		method, path, ok := strings.Cut(strings.Trim(cells[0], " `"), " ")
		if ok = ok && strings.HasPrefix(line, "| `") && strings.HasPrefix(path, "/"); !ok {
			answered += line
			continue
		}
		cells = append(cells, make([]string, len(as))...)[:1+len(as)]
		for i, token := range as {
			got := strconv.Itoa(askedAs(t, g, token, method, path))
			if want := strings.TrimSpace(cells[i+1]); got != want && !*writeMatrix {
				t.Errorf("%s %s in column %d: %s, want %q", method, path, i+1, got, want)
			}
			cells[i+1] = " " + got + " "
			asked++
		}
		answered += "|" + strings.Join(cells, "|") + "|\n"
	}
	if asked < 400 {
		t.Errorf("the table has %d cells", asked)
	}
	if *writeMatrix {
		if err := os.WriteFile(file, []byte(answered), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// askedAs is the code that somebody is answered. Of a write nothing is kept, if it is of
// something.
func askedAs(t *testing.T, g *harness.Gateway, token, method, path string) int {
	t.Helper()
	api := g.API(t)
	api.Token = token
	if method == "GET" {
		return api.Get(path).Code
	}
	body, kind := "{}", "application/json"
	switch {
	case method == "DELETE":
		body = ""
	case method == "PATCH":
		kind = "application/merge-patch+json"
	case strings.HasSuffix(path, "/content"):
		kind = "application/wasm"
	}
	var sent any
	if body != "" {
		sent = body
	}
	return api.Do(method, path+"?dryRun=All", sent, "Content-Type", kind).Code
}
