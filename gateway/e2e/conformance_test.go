package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// citedInText is an ID in a sub-test's name or a comment, citedInName the end
	// of a test function's name, and describedRow a row of the table.
	citedInText  = regexp.MustCompile(`\b(` + rowAreas + `)-(L?[0-9]{1,2})\b`)
	citedInName  = regexp.MustCompile(`(?m)^func (?:Test|Fuzz|Benchmark)[A-Za-z0-9]*((?:_[A-Za-z0-9]+)+)\(`)
	idInName     = regexp.MustCompile(`^(` + rowAreas + `)(L?[0-9]{1,2})$`)
	describedRow = regexp.MustCompile(`(?m)^\| (` + rowAreas + `)-(L?[0-9]{1,2}) \| [^|]{10,} \|$`)
)

const rowAreas = `RES|VERB|MT|LIST|WATCH|RV|DEL|FV|DRY|UPD|SSA|CRD|CEL|DV|VER|MIG|HLT|CMP|PER|CLI|WP`

// TestRowsAreDescribed compares the IDs that tests of this module cite with
// the table in docs/conformance.md.
func TestRowsAreDescribed(t *testing.T) {
	const root = "../.."
	doc, err := os.ReadFile(filepath.Join(root, "docs", "conformance.md"))
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]bool{}
	for _, m := range describedRow.FindAllStringSubmatch(string(doc), -1) {
		described[m[1]+"-"+m[2]] = true
	}
	cited := map[string]string{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{"node_modules", ".git"}, d.Name()) {
			return filepath.SkipDir
		}
		// Recorded stories are named by rows too.
		if d.IsDir() || !strings.HasSuffix(path, "_test.go") && !slices.Contains([]string{"ownership", "rules"}, filepath.Base(filepath.Dir(path))) {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, id := range citations(string(text)) {
			cited[id] = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(cited) < 50 || len(described) < 50 {
		t.Fatalf("%d rows are cited, %d described: is this the root of the module?", len(cited), len(described))
	}
	for id, path := range cited {
		if !described[id] {
			t.Errorf("%s cites %s, which docs/conformance.md does not describe", path, id)
		}
	}
	for id := range described {
		if cited[id] == "" {
			t.Errorf("no test cites %s", id)
		}
	}
}

// citations are the IDs in a file of tests, as PREFIX-NUMBER.
func citations(text string) []string {
	var ids []string
	for _, m := range citedInText.FindAllStringSubmatch(text, -1) {
		ids = append(ids, m[1]+"-"+m[2])
	}
	for _, m := range citedInName.FindAllStringSubmatch(text, -1) {
		for _, part := range strings.Split(m[1], "_") {
			if id := idInName.FindStringSubmatch(part); id != nil {
				ids = append(ids, id[1]+"-"+id[2])
			}
		}
	}
	return ids
}
