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
	{"kinds/module/*.go", `(?:Reason:|NoCalls) +=? ?"([A-Z]\w+)"`},
	{"../plugins/signature/*.go", `Reason = "([A-Z]\w+)"`},
	{"kinds/module/folder/beside.go", `Reason: "([A-Z]\w+)"`},
	{"kinds/module/trust/*.go", `Reason = "([A-Z]\w+)"`},
	{"kinds/module/trusted.go", `c.Reason, c.Message = [\w.]+, "([A-Z]\w+)"`},
	{"kinds/module/load/*.go", `(?:Reason:?|awaitingPromotion) +=? ?"([A-Z]\w+)"`},
	{"kinds/module/image/*.go", `(?:Reason:|Reason =) "([A-Z]\w+)"`},
	{"kinds/module/needs.go", `(?:conversionMissing|complete) += "([A-Z]\w+)"`},
	{"kinds/module/proof.go", `(?:FieldsLost|AwaitingProof) += "([A-Z]\w+)"`},
	{"kinds/module/lossless/*.go", `reason\w+ += "([A-Z]\w+)"`},
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

var (
	byHand     = regexp.MustCompile(`(?ms)^## What is written by hand.*?^## `)
	quoted     = regexp.MustCompile("`([^`]*)`")
	goTest     = regexp.MustCompile(`^go test \./(\S+) (?:-run '\^\$' -bench (\S+)|-run (\w+))$`)
	benchSteps = regexp.MustCompile(`^go run \./bench -steps (\w+)$`)
)

// TestWhatIsWrittenByHandIsShown holds the table in RATIONALE.md to the packages
// and to what shows the gain.
func TestWhatIsWrittenByHandIsShown(t *testing.T) {
	text, err := os.ReadFile("../RATIONALE.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(byHand.FindString(string(text))) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| what |") {
			continue
		}
		rows++
		if len(cells) != 5 {
			t.Errorf("%d cells: %s", len(cells), line)
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
			if files, _ := filepath.Glob(filepath.Join("..", m[1], "*.go")); len(files) == 0 {
				t.Errorf("there is no package %s: %s", m[1], line)
			}
		}
		command := strings.Trim(strings.TrimSuffix(cells[4], " |"), "`")
		if command == "none" != strings.HasPrefix(cells[3], "none") {
			t.Errorf("a gain that is a number has a command, and another is called none: %s", line)
		}
		if command != "none" && !shows(t, command) {
			t.Errorf("%s runs nothing that there is", command)
		}
	}
	if rows < 10 {
		t.Errorf("%d rows", rows)
	}
}

// shows reports whether a command runs a benchmark, a test or a step that there is.
func shows(t *testing.T, command string) bool {
	t.Helper()
	files, want := "bench/*.go", ""
	if m := benchSteps.FindStringSubmatch(command); m != nil {
		want = `"` + m[1] + `"`
	}
	if m := goTest.FindStringSubmatch(command); m != nil {
		files = m[1] + "/*_test.go"
		switch {
		case m[3] != "":
			want = "func " + m[3] + "("
		case m[2] == ".":
			want = "func Benchmark"
		default:
			want = "func Benchmark" + m[2] + "("
		}
	}
	all, err := filepath.Glob(filepath.Join("..", files))
	if err != nil || want == "" {
		t.Errorf("%s: %v", command, err)
		return false
	}
	return slices.ContainsFunc(all, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), want)
	})
}
