package merge

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// oracleSchema has every kind of type that schemas can make.
const oracleSchema = `{"type":"object","properties":{
	"s":{"type":"string"},"n":{"type":"integer"},"b":{"type":"boolean"},"d":{"type":"string","format":"date-time"},
	"any":{"x-kubernetes-preserve-unknown-fields":true},
	"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
	"port":{"x-kubernetes-int-or-string":true},
	"map":{"type":"object","additionalProperties":{"type":"string"}},
	"open":{"type":"object","additionalProperties":true,"properties":{"s":{"type":"string"}}},
	"amap":{"type":"object","x-kubernetes-map-type":"atomic","additionalProperties":{"type":"string"}},
	"struct":{"type":"object","properties":{"s":{"type":"string"},"o":{"type":"object","properties":{"s":{"type":"string"},"n":{"type":"number"}}}}},
	"list":{"type":"array","items":{"type":"object","properties":{"s":{"type":"string"}}}},
	"set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
	"nums":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"integer"}},
	"items":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["z","a"],"items":{"type":"object",
		"properties":{"a":{"type":"string"},"z":{"type":"integer","default":1},"s":{"type":"string"},
			"map":{"type":"object","additionalProperties":{"type":"string"}},
			"set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}}}},
	"atom":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"s":{"type":"string"}}},
	"lists":{"type":"object","additionalProperties":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}}
}}`

type oracle struct {
	ours   *Type
	theirs typed.ParseableType
	r      *rand.Rand
	props  *apiextensionsv1.JSONSchemaProps
}

func newOracle(t *testing.T, text string) *oracle {
	t.Helper()
	o := &oracle{props: &apiextensionsv1.JSONSchemaProps{}, r: rand.New(rand.NewPCG(1, 2))}
	if err := json.Unmarshal([]byte(text), o.props); err != nil {
		t.Fatal(err)
	}
	var err error
	if o.ours, err = (builder{}).build(o.props); err != nil {
		t.Fatal(err)
	}
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(o.props.DeepCopy(), internal, nil); err != nil {
		t.Fatal(err)
	}
	s, err := structuralschema.NewStructural(internal)
	if err != nil {
		t.Fatal(err)
	}
	made, err := schemaconv.ToSchemaFromOpenAPI(map[string]*spec.Schema{"object": s.ToKubeOpenAPI()}, false)
	if err != nil {
		t.Fatal(err)
	}
	parser := typed.Parser{Schema: schema.Schema{Types: made.Types}}
	o.theirs = parser.Type("object")
	return o
}

func (o *oracle) pick(values ...any) any { return values[o.r.IntN(len(values))] }

// value makes a value of a type, or seldom of another.
func (o *oracle) value(s *apiextensionsv1.JSONSchemaProps, wrong bool) any {
	if o.r.IntN(25) == 0 {
		return nil
	}
	if wrong && o.r.IntN(30) == 0 {
		return o.pick("x", int64(1), 1.5, true, []any{}, []any{nil}, map[string]any{}, map[string]any{"s": "y"}, []any{map[string]any{"q": int64(1)}})
	}
	switch s.Type {
	case "string":
		return o.pick("x", "y", "z", "")
	case "integer":
		return o.pick(int64(0), int64(1), int64(2))
	case "number":
		return o.pick(int64(1), 1.0, 2.5)
	case "boolean":
		return o.pick(true, false)
	case "array":
		items := []any{}
		for range o.r.IntN(5) {
			items = append(items, o.value(s.Items.Schema, wrong))
		}
		return items
	case "object":
		return o.object(s, wrong)
	}
	return o.pick("x", int64(1), []any{"x"}, map[string]any{}, map[string]any{"p": map[string]any{"q": o.pick("x", nil)}, "l": []any{o.pick(int64(1), "x")}})
}

func (o *oracle) object(s *apiextensionsv1.JSONSchemaProps, wrong bool) map[string]any {
	out := map[string]any{}
	for name, p := range s.Properties {
		if o.r.IntN(3) > 0 {
			out[name] = o.value(&p, wrong)
		}
	}
	if a := s.AdditionalProperties; a != nil || s.XPreserveUnknownFields != nil {
		for _, name := range []string{"p", "q", "x.y"} {
			if o.r.IntN(2) > 0 {
				continue
			}
			if a != nil && a.Schema != nil {
				out[name] = o.value(a.Schema, wrong)
			} else {
				out[name] = o.value(&apiextensionsv1.JSONSchemaProps{}, wrong)
			}
		}
	}
	if wrong && o.r.IntN(40) == 0 {
		out["unknown"] = "x"
	}
	return out
}

// mutate is a copy of an object in which some parts are other ones.
func (o *oracle) mutate(v any) any {
	other, _ := o.value(o.props, false).(map[string]any)
	out := map[string]any{}
	for name, v := range v.(map[string]any) {
		switch o.r.IntN(4) {
		case 0:
			if w, ok := other[name]; ok {
				out[name] = w
			}
		case 1:
			items, ok := v.([]any)
			if ok {
				items = slices.Clone(items)
				o.r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
				out[name] = items
				continue
			}
			fallthrough
		default:
			out[name] = v
		}
	}
	return out
}

func sameSet(t *testing.T, what string, ours *fieldpath.Set, theirs *fieldpath.Set) {
	t.Helper()
	a, err := ours.ToJSON()
	if err != nil {
		t.Fatal(err)
	}
	b, err := theirs.ToJSON()
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Errorf("%s:\nours   %s\ntheirs %s", what, a, b)
	}
}

func (o *oracle) their(v any) (*typed.TypedValue, bool) {
	tv, err := o.theirs.FromUnstructured(v, typed.AllowDuplicates)
	return tv, err == nil
}

func sorted(err error) string {
	if err == nil {
		return ""
	}
	lines := strings.Split(err.Error(), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Everything is done as structured-merge-diff does it.
func TestTreesAreTreatedAsStructuredMergeDiffTreatsThem_SSA12(t *testing.T) {
	o := newOracle(t, oracleSchema)
	valid := 0
	for i := range 2000 {
		a := o.value(o.props, i%2 == 0)
		ta, ok := o.their(a)
		if got := o.ours.Validate(a, true) == nil; got != ok {
			t.Fatalf("valid: %v, theirs %v: %v", got, ok, show(a))
		}
		_, strict := o.theirs.FromUnstructured(a)
		if err := o.ours.Validate(a, false); (err == nil) != (strict == nil) || !strings.Contains(sorted(strict), "not declared") && sorted(err) != sorted(strict) {
			t.Fatalf("%s is refused with\n%v\ntheirs\n%v", show(a), err, strict)
		}
		if _, isObject := a.(map[string]any); !ok || !isObject {
			continue
		}
		valid++
		b := o.mutate(a)
		if i%3 == 0 {
			b = o.value(o.props, false)
		}
		tb, ok := o.their(b)
		if _, isObject := b.(map[string]any); !ok || !isObject {
			continue
		}
		before := show(a) + show(b)
		o.compare(t, a, b, ta, tb)
		if show(a)+show(b) != before {
			t.Fatal("a tree was changed")
		}
		if t.Failed() {
			t.Fatalf("\na %s\nb %s", show(a), show(b))
		}
	}
	if valid < 700 {
		t.Errorf("only %d were valid", valid)
	}
}

func show(v any) string {
	b, err := json.Marshal(v)
	return fmt.Sprint(string(b), err)
}

func (o *oracle) compare(t *testing.T, a, b any, ta, tb *typed.TypedValue) {
	t.Helper()
	fields, err := ta.ToFieldSet()
	if err != nil {
		t.Fatal(err)
	}
	set := o.ours.Fields(a, false)
	sameSet(t, "fields", set, fields)
	if o.ours.Validate(a, false) == nil {
		sameSet(t, "fields of unique items", o.ours.Fields(a, true), fields)
	}
	sameSet(t, "named", o.ours.Named(set), fields.EnsureNamedFieldsAreMembers(o.theirs.Schema, o.theirs.TypeRef))

	diff, err := ta.Compare(tb)
	if err != nil {
		t.Fatal(err)
	}
	d := o.ours.Compare(a, b)
	sameSet(t, "added", d.Added, diff.Added)
	sameSet(t, "removed", d.Removed, diff.Removed)
	sameSet(t, "modified", d.Modified, diff.Modified)
	sameSet(t, "changed", d.Changed(), diff.Added.Union(diff.Modified))
	if d.Equal != reflect.DeepEqual(a, b) && d.Equal != Equal(a, b) {
		t.Errorf("equal: %v", d.Equal)
	}

	if o.ours.Validate(b, false) == nil {
		merged, err := ta.Merge(tb)
		if err != nil {
			t.Fatal(err)
		}
		if got := show(o.ours.Merge(a, b)); got != show(merged.AsValue().Unstructured()) {
			t.Errorf("merged:\nours   %s\ntheirs %s", got, show(merged.AsValue().Unstructured()))
		}
	}
	o.remove(t, a, ta, d, diff)
}

func (o *oracle) remove(t *testing.T, a any, ta *typed.TypedValue, d *Diff, diff *typed.Comparison) {
	t.Helper()
	for _, one := range []struct {
		ours   *fieldpath.Set
		theirs *fieldpath.Set
	}{{d.Removed, diff.Removed}, {d.Modified, diff.Modified}, {d.Removed.Leaves(), diff.Removed.Leaves()}} {
		got, want := o.ours.Remove(a, one.ours), ta.RemoveItems(one.theirs).AsValue().Unstructured()
		if show(got) != show(want) {
			t.Errorf("without %v:\nours   %s\ntheirs %s", one.ours, show(got), show(want))
		}
	}
}

// What schemas become is owned as structured-merge-diff says.
func TestSetsAreReconciledAsStructuredMergeDiffReconcilesThem_SSA22(t *testing.T) {
	o := newOracle(t, oracleSchema)
	atomic := strings.NewReplacer(`"x-kubernetes-list-type":"set",`, ``, `"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["z","a"],`, ``,
		`"struct":{"type":"object",`, `"struct":{"type":"object","x-kubernetes-map-type":"atomic",`,
		`"map":{"type":"object",`, `"map":{"type":"object","x-kubernetes-map-type":"atomic",`,
		`"free":{"type":"object",`, `"free":{"type":"object","x-kubernetes-map-type":"atomic",`).Replace(oracleSchema)
	changed := 0
	for _, text := range []string{oracleSchema, atomic} {
		to := newOracle(t, text)
		for range 400 {
			a := o.value(o.props, false)
			if o.ours.Validate(a, true) != nil {
				continue
			}
			ta, _ := o.their(a)
			fields, err := ta.ToFieldSet()
			if err != nil {
				t.Fatal(err)
			}
			set := o.ours.Fields(a, false)
			if o.r.IntN(2) == 0 { // what others left of it
				set, fields = set.Leaves(), fields.Leaves()
			}
			got := to.ours.Reconcile(set)
			//lint:ignore SA1019 the type alone is meant, there is no value
			tv := typed.AsTypedUnvalidated(nil, to.theirs.Schema, to.theirs.TypeRef)
			want, err := typed.ReconcileFieldSetWithSchema(fields, tv)
			if err != nil {
				t.Fatal(err)
			}
			if (want == nil) != (got == set) {
				t.Errorf("reconciled: %v, theirs %v", got != set, want != nil)
			}
			if want != nil {
				changed++
				sameSet(t, "reconciled", got, want)
			}
			if t.Failed() {
				t.Fatal(show(a))
			}
		}
	}
	if changed < 200 {
		t.Errorf("only %d were reconciled", changed)
	}
}
