package gateway_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// reasons finds the reasons of conditions of modules in the code.
var reasons = []struct{ files, pattern string }{
	{"../plugins/load.go", `LoadReason = "([A-Z]\w+)"`},
	{"../plugins/plugins.go", `ErrorKind = "([A-Z]\w+)"`},
	{"kinds/module/oci/oci.go", `Reason = "([A-Z]\w+)"`},
	{"kinds/module/host/*.go", `Reason: "([A-Z]\w+)"`},
	{"kinds/module/*.go", `(?:[rR]eason:?|awaitingPromotion|NoCalls) +=? ?"([A-Z]\w+)"`},
	{"kinds/module/image/*.go", `(?:Reason:|Reason =) "([A-Z]\w+)"`},
	{"kinds/module/needs.go", `(?:conversionMissing|complete) += "([A-Z]\w+)"`},
	{"kinds/module/healthy/*.go", `calls\w+ += "([A-Z]\w+)"`},
}

// TestDocumentHasAllReasons holds docs/reasons.md to the reasons that the code has.
func TestDocumentHasAllReasons(t *testing.T) {
	code := map[string]bool{"Pulled": true} // the condition and its reason are one word
	for _, r := range reasons {
		files, err := filepath.Glob(r.files)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(r.pattern).FindAllStringSubmatch(string(text), -1) {
				code[m[1]] = true
				found++
			}
		}
		if found == 0 {
			t.Errorf("no reasons in %s", r.files)
		}
	}
	text, err := os.ReadFile("../docs/reasons.md")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z]\\w+)` ").FindAllStringSubmatch(string(text), -1) {
		told = append(told, m[1])
	}
	slices.Sort(told)
	if want := slices.Sorted(maps.Keys(code)); !slices.Equal(told, want) {
		t.Errorf("docs/reasons.md has\n%v\nthe code has\n%v", told, want)
	}
}
