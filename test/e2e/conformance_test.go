package e2e

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// describedRow is a row of the table in docs/conformance.md: its ID, what it says,
// and who shows it.
var describedRow = regexp.MustCompile(`(?m)^\| ((?:` + rowAreas + `)-L?[0-9]{1,2}) \| ([^|]{10,}?) \|(?: ([^|]*) \|)?$`)

// namedAtMost is how many tests a row names.
const namedAtMost = 2

var writeConformance = flag.Bool("conformance.write", false, "write into docs/conformance.md which tests show its rows")

// TestRowsAreDescribed compares the IDs that tests and recorded stories of this
// module cite with the table in docs/conformance.md, and the tests that it names
// with those that there are.
func TestRowsAreDescribed(t *testing.T) {
	const root = "../.."
	path := filepath.Join(root, "docs", "conformance.md")
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cited, err := citationsUnder(root)
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]bool{}
	for _, m := range describedRow.FindAllStringSubmatch(string(doc), -1) {
		described[m[1]] = true
		if len(cited[m[1]]) == 0 {
			t.Errorf("no test cites %s", m[1])
		}
	}
	if len(cited) < 50 || len(described) < 50 {
		t.Fatalf("%d rows are cited, %d described: is this the root of the module?", len(cited), len(described))
	}
	for id := range cited {
		if !described[id] {
			t.Errorf("%s cites %s, which docs/conformance.md does not describe", cited.named(id), id)
		}
	}
	written := describedRow.ReplaceAllStringFunc(string(doc), func(row string) string {
		m := describedRow.FindStringSubmatch(row)
		shown := shownBy(cited.named(m[1]))
		if m[3] != shown && !*writeConformance {
			t.Errorf("docs/conformance.md says that %s is shown by %q, and it is by %q; to write it: go test ./test/e2e -run TestRowsAreDescribed -conformance.write", m[1], m[3], shown)
		}
		return "| " + m[1] + " | " + m[2] + " | " + shown + " |"
	})
	if *writeConformance && written != string(doc) {
		if err := os.WriteFile(path, []byte(written), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// shownBy is the last cell of a row. It does not say how many there are, so that
// another test changes nothing where there are some.
func shownBy(names []string) string {
	more := ""
	if len(names) > namedAtMost {
		names, more = names[:namedAtMost], " and others"
	}
	return "`" + strings.Join(names, "`, `") + "`" + more
}
