package draft_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/conversion/draft"
	"github.com/wasmgate/wasmgate/conversion/rules"
)

// pair is two versions of a kind as somebody wrote them, and what became of what: each
// operation as in a rule, behind CHECK where it cannot be known.
type pair struct {
	Name     string
	Old, New map[string]any
	Want     []string
}

func TestPairsAreGuessed(t *testing.T) {
	text, err := os.ReadFile("testdata/pairs.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var pairs []pair
	if err := yaml.UnmarshalStrict(text, &pairs); err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		t.Run(p.Name, func(t *testing.T) {
			d := draft.Between(draft.Version{Name: "v1", Schema: schemaOf(t, p.Old)}, draft.Version{Name: "v2", Schema: schemaOf(t, p.New)})
			var got []string
			for _, op := range d.Ops {
				got = append(got, told(t, op))
			}
			if !slices.Equal(got, p.Want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(p.Want, "\n  "))
			}
			for _, op := range d.Ops {
				if op.Why == "" || op.At == "" {
					t.Errorf("no reason: %+v", op)
				}
			}
			if _, errs := rules.Compile(rules.Spec{Conversions: []rules.Conversion{d.Rules()}}); len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
		})
	}
}

// told is an operation in a line.
func told(t *testing.T, op draft.Op) string {
	t.Helper()
	text := op.At
	if op.Rule != (rules.Rule{}) {
		data, err := json.Marshal(op.Rule)
		if err != nil {
			t.Fatal(err)
		}
		text = strings.ReplaceAll(string(data), `"`, "")
	}
	if !op.Certain {
		text = "CHECK " + text
	}
	return text
}

func schemaOf(t *testing.T, properties map[string]any) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	data, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
	if err != nil {
		t.Fatal(err)
	}
	out := &apiextensionsv1.JSONSchemaProps{}
	if err := json.Unmarshal(data, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Whatever schemas are, what is made of them compiles, and is bounded.
func FuzzBetween(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"string"},"":{"type":"integer"},"x.y":{"type":"array","items":{"type":"object","properties":{"n":{"type":"string"}}}}}}`,
		`{"type":"object","properties":{"b":{"type":"string"},"x.y":{"type":"object","additionalProperties":{"type":"object","properties":{"m":{"type":"string"}}}}}}`)
	f.Add(`{"properties":{"hostPort":{"type":"string","description":"HOST:PORT"}}}`, `{"properties":{"s":{"properties":{"host":{"type":"string"},"port":{"type":"integer"}}}}}`)
	f.Add(`{"properties":{"a":{"type":"string","enum":["x","y"]},"timeoutSeconds":{"type":"integer"}}}`, `{"required":["a","z"],"properties":{"a":{"type":"string","enum":["X",1]},"timeout":{"type":"string"},"z":{"type":"integer"}}}`)
	f.Add(`{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"}}}}`, `{"type":"object","additionalProperties":{"type":"string"}}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		var from, to apiextensionsv1.JSONSchemaProps
		if json.Unmarshal([]byte(a), &from) != nil || json.Unmarshal([]byte(b), &to) != nil {
			return
		}
		d := draft.Between(draft.Version{Name: "v1", Schema: &from}, draft.Version{Name: "v2", Schema: &to})
		if c := d.Rules(); len(c.Rules) > 0 {
			if _, errs := rules.Compile(rules.Spec{Conversions: []rules.Conversion{c}}); len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
		}
	})
}

// Two schemas that have nothing in common, and much of it, are still compared in time.
func TestManyFieldsAreBounded(t *testing.T) {
	side := func(begin string) *apiextensionsv1.JSONSchemaProps {
		out := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
		for i := range 3000 {
			name := begin + strings.Repeat(string(rune('a'+i%26)), i/26%9+1) + strings.Repeat(string(rune('A'+i%26)), i/234+1)
			out.Properties[name] = apiextensionsv1.JSONSchemaProps{Type: "string", Description: strings.Repeat(name+" ", 40)}
		}
		return out
	}
	d := draft.Between(draft.Version{Name: "v1", Schema: side("old")}, draft.Version{Name: "v2", Schema: side("new")})
	if n := len(d.Rules().Rules); n == 0 || n > 120 {
		t.Errorf("%d rules", n)
	}
	if last := d.Ops[len(d.Ops)-1]; last.Certain || !strings.Contains(last.Why, "more than is compared") {
		t.Errorf("that it is not all is not said: %+v", last)
	}
}
