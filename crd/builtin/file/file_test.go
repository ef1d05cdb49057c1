package file

import (
	"slices"
	"strings"
	"testing"
)

const widgets = "group: example.com\nnames: {kind: Widget, plural: widgets}\nscope: Namespaced\nversions:\n"

// What a file leaves out follows from the rest of it, and a version that is like
// another has all of it but its own name and fields of selectors.
func TestWhatAFileLeavesOutFollows(t *testing.T) {
	f, err := Read([]byte(widgets + `- {name: v1, served: true, storage: true, kept: [status], selectableFields: [{jsonPath: .a}]}
- {name: v1beta1, served: false, like: v1}
- {name: other.io/v1, served: true, like: v1, selectableFields: [{jsonPath: .b}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	if f.Names.Singular != "widget" || f.Names.ListKind != "WidgetList" || f.Stored != "widgets" || f.Question() || !f.IsServed() {
		t.Errorf("%+v", f)
	}
	old, other := f.Version("v1beta1"), f.Version("other.io/v1")
	if old.Served || old.Storage || !slices.Equal(old.Kept, []string{"status"}) || old.SelectableFields[0].JSONPath != ".a" {
		t.Errorf("%+v", old)
	}
	if !other.Served || other.SelectableFields[0].JSONPath != ".b" || f.GVK(other.Name).String() != "other.io/v1, Kind=Widget" {
		t.Errorf("%+v %s", other, f.GVK(other.Name))
	}
}

func TestFilesThatSayNothingAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"names: {kind: Widget}":                          "a kind has a kind, a plural and versions",
		"names: {kind: Widget, plural: widgets}":         "a kind has a kind, a plural and versions",
		widgets + "- {name: v1, storag: true}":           `unknown field "storag"`,
		widgets + "- {name: v2, like: v1}\n- {name: v1}": "version v2 is like v1, which is not there",
	} {
		if _, err := Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestNamesAreChecked(t *testing.T) {
	for _, c := range []struct {
		rule  NameRule
		name  string
		valid bool
	}{
		{"", "a.b", true}, {"", "a/b", false}, {"dns-label", "a.b", false}, {"dns-1035-label", "1a", false}, {"dns-1035-label", "a1", true},
		{"path-segment", "a:b", true}, {"path-segment", "..", false}, {"ip", "10.0.0.1", true}, {"ip", "10.0.0.01", false},
	} {
		if got := len(c.rule.Check()(c.name, false)) == 0; got != c.valid {
			t.Errorf("%q as %q: %t", c.name, c.rule, got)
		}
	}
	if len(NameRule("path-segment").Check()("..", true)) != 0 || len(NameRule("path-segment").Check()("a%", true)) == 0 {
		t.Error("a prefix of a path segment is mistaken")
	}
}
