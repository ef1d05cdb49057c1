package object

import (
	"fmt"
	"strings"
	"testing"
)

// schema is a type that nests in itself below any names, as the schemas of
// definitions do.
type schema struct {
	Type       string            `json:"type"`
	Properties map[string]schema `json:"properties"`
	AnyOf      []schema          `json:"anyOf"`
}

func TestUnknownFieldsAreNamed(t *testing.T) {
	for in, want := range map[string]string{
		`{"properties":{"a":{"type":"string"}},"type":"x"}`:     ``,
		`{"properties":{"a":{"b":1,"type":"string"}}}`:          `unknown field "properties.a.b"`,
		`{"anyOf":[{},{"b":1}],"c":{"d":{}},"type":"x"}`:        `unknown field "anyOf[1].b"|unknown field "c"`,
		`{"type":"` + strings.Repeat("x", 2<<20) + `","zzz":1}`: `unknown field "zzz"`,
	} {
		var s schema
		unknown, err := DecodeTyped(parsed(t, in), &s)
		if err != nil || strings.Join(unknown, "|") != want {
			t.Errorf("%.60s: %q, %v", in, unknown, err)
		}
	}
	if _, err := DecodeTyped(parsed(t, `{"type":1}`), &schema{}); err == nil || !strings.Contains(err.Error(), "cannot unmarshal number into Go struct field") {
		t.Errorf("wrong type: %v", err)
	}
}

func TestNamingUnknownFieldsCostsNoMoreThanTheInput(t *testing.T) {
	var fields strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&fields, `"f%d":1,`, i)
	}
	quick(t, func() {
		var s schema
		long := strings.Repeat("k", 1<<20)
		unknown, err := DecodeTyped(parsed(t, `{"properties":{"`+long+`":{`+fields.String()+`"type":"x"}}}`), &s)
		if err != nil || len(unknown) != 1 || unknown[0] != TooLongToName || s.Properties[long].Type != "x" {
			t.Errorf("%q, %v", unknown, err)
		}
	})
}

func TestNamingWorkIsTheLengthOfAllPaths(t *testing.T) {
	for in, want := range map[string]int{
		`{}`:                         0,
		`{"a":1}`:                    2,
		`{"a":{"b":1,"cc":"x"}}`:     2 + 4 + 5,
		`{"a":[{"b":1},{"c":1},1]}`:  2 + 2*(2+6+2),
		`{"a":{"b":{}},"c":{"d":1}}`: 2*2 + 2*4,
	} {
		left := 0
		if spend(parsed(t, in), 0, &left); left > 0 || want > 0 && left >= 0 {
			t.Errorf("%s: nothing is spent of nothing", in)
		}
		left = want
		if spend(parsed(t, in), 0, &left); left != 0 {
			t.Errorf("%s: %d are left of %d", in, left, want)
		}
	}
	if name := strings.Repeat("k", maxNamingWork-1); !CanName(map[string]any{name: 1}) || CanName(map[string]any{name + "k": 1}) {
		t.Error("the bound is elsewhere")
	}
}

func parsed(t *testing.T, in string) map[string]any {
	t.Helper()
	tree, _, err := Parse([]byte(in))
	if err != nil {
		t.Error(err)
	}
	return tree
}

func TestProblemsComeInTheOrderOfTheText(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"x"}`: ``,
		`{"z":1,"type":"a","type":"b","properties":{"a":{"y":{"type":1,"type":2}},"a":{}},"b":1}`: `unknown field "z"|duplicate field "type"|unknown field "properties.a.y"|duplicate field "properties.a"|unknown field "b"`,
		`{"z":1,"a":1,"z":1}`: `unknown field "z"|unknown field "a"`,
	} {
		if got := strings.Join(Problems([]byte(in), &schema{}), "|"); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
	// A long name may be below a field that comes again, and so not be in the tree.
	var fields strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&fields, `"f%d":1,`, i)
	}
	quick(t, func() {
		in := `{"properties":{"` + strings.Repeat("k", 1<<20) + `":{` + fields.String() + `"type":"x"}},"properties":{}}`
		if got := Problems([]byte(in), &schema{}); got != nil {
			t.Errorf("%d are named", len(got))
		}
	})
}
