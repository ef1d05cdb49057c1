package gateway_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var placeholder = regexp.MustCompile(`[A-Z]{3,}`)

// TestChangesNameFilesThatExist holds docs/changes.md to the tree: its paths, in
// which words in capitals stand for any.
func TestChangesNameFilesThatExist(t *testing.T) {
	text, err := os.ReadFile("../docs/changes.md")
	if err != nil {
		t.Fatal(err)
	}
	paths := 0
	for _, m := range regexp.MustCompile("`([^` ]+)`").FindAllStringSubmatch(string(text), -1) {
		if strings.HasPrefix(m[1], "-") {
			continue // a flag
		}
		paths++
		found, err := filepath.Glob(filepath.Join("..", placeholder.ReplaceAllString(m[1], "*")))
		if err != nil || len(found) == 0 {
			t.Errorf("docs/changes.md names %s, which is not there: %v", m[1], err)
		}
	}
	if paths < 20 {
		t.Errorf("%d paths", paths)
	}
}
