package draft

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/conversion/rules"
)

// through converts an object of version to each of others in turn, by drafts.
func through(t *testing.T, all []Draft, object string, versions ...string) (got []string) {
	t.Helper()
	spec := rules.Spec{}
	for _, d := range all {
		spec.Conversions = append(spec.Conversions, d.Rules())
	}
	r, errs := rules.Compile(spec)
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	for _, version := range versions {
		out, err := r.Convert(t.Context(), "example.com/"+version, [][]byte{[]byte(object)})
		if err != nil {
			t.Fatal(err)
		}
		object = string(out[0])
		got = append(got, object[strings.Index(object, `"metadata"`):])
	}
	return got
}

// widget is an object.
func widget(version, spec string) string {
	return `{"apiVersion":"example.com/` + version + `","kind":"Widget","metadata":{"name":"a"},"spec":` + spec + `}`
}

// specWith is a schema of objects with these fields in their spec.
func specWith(t *testing.T, properties string) *schema {
	return parsed(t, `{"type":"object","properties":{"spec":{"type":"object","properties":{`+properties+`}}}}`)
}

// Each list keeps its own order, at whatever place it is, and under however long a name.
func TestOrdersOfListsAreKeptApart(t *testing.T) {
	for _, last := range []string{"rules", strings.Repeat("rules", 12), "rules.of-"} {
		both := func(of string) string {
			return fmt.Sprintf(`"egress":{"type":"object","properties":{"%[1]s":%[2]s}},"ingress":{"type":"object","properties":{"%[1]s":%[2]s}}`, last, of)
		}
		lists := specWith(t, both(`{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"v":{"type":"string"}}}}`))
		maps := specWith(t, both(`{"type":"object","additionalProperties":{"type":"string"}}`))
		spec := fmt.Sprintf(`{"egress":{"%[1]s":[{"name":"b","v":"1"},{"name":"a","v":"2"}]},"ingress":{"%[1]s":[{"name":"c","v":"1"},{"name":"d","v":"2"},{"name":"a","v":"3"}]}}`, last)
		got := through(t, Chain(Version{"v1", lists}, Version{"v2", maps}), widget("v1", spec), "v2", "v1")
		if !strings.HasSuffix(got[1], `"metadata":{"name":"a"},"spec":`+spec+`}`) || strings.Contains(got[0], "[{") {
			t.Errorf("%s", strings.Join(got, "\n"))
		}
	}
}

// What two versions have under one name, and none between them, is one field only if it is
// alike: else each is kept in an annotation of its own, and somebody is told to look.
func TestFieldsOfOneNameAreKeptApart(t *testing.T) {
	const none, text, object = ``, `"policy":{"type":"string"}`, `"policy":{"type":"object","properties":{"mode":{"type":"string"}}}`
	chain := func(fields ...string) (all []Draft) {
		var versions []Version
		for i, f := range fields {
			versions = append(versions, Version{fmt.Sprint("v", i), specWith(t, `"size":{"type":"integer"},`+f+`"z":{"type":"integer"}`)})
		}
		return Chain(versions...)
	}
	comma := func(f string) string { return f + "," }
	kept := func(d Draft) (all []string) {
		for _, op := range d.Ops {
			mark := map[bool]string{false: "?"}[op.Certain]
			switch {
			case op.Keep != nil:
				all = append(all, "keep "+strings.TrimPrefix(op.Keep.Name(), "conversion.wasmgate.dev/")+mark)
			case op.Restore != nil:
				all = append(all, "restore "+strings.TrimPrefix(op.Restore.Name(), "conversion.wasmgate.dev/")+mark)
			}
		}
		return all
	}
	narrow, long := `"policy":{"type":"string","enum":["a"]},`, strings.Repeat("policy", 11)
	for _, c := range []struct {
		says   string
		fields []string
		want   string
	}{
		{"alike", []string{comma(text), none, comma(text)}, "[keep spec.policy] [restore spec.policy]"},
		{"some values", []string{comma(text), none, narrow}, "[keep spec.policy] [restore spec.policy?]"},
		{"more values", []string{narrow, none, comma(text)}, "[keep spec.policy] [restore spec.policy?]"},
		{"a flag, and a number", []string{`"policy":{"type":"boolean"},`, none, `"policy":{"type":"integer"},`}, "[keep spec.policy] [restore v2.spec.policy?]"},
		{"something else", []string{comma(text), none, comma(object)}, "[keep spec.policy] [restore v2.spec.policy?]"},
		{"later", []string{comma(text), none, none, comma(object)}, "[keep spec.policy] [] [restore v3.spec.policy?]"},
		{"and gone again", []string{comma(text), none, comma(object), none, comma(text)}, "[keep spec.policy] [restore v2.spec.policy?] [keep v2.spec.policy?] [restore spec.policy]"},
		{"one that goes on", []string{comma(text), none, comma(text), none, comma(object)}, "[keep spec.policy] [restore spec.policy] [keep spec.policy] [restore v4.spec.policy?]"},
		{"one of one version", []string{none, comma(text), none}, "[restore spec.policy] [keep spec.policy]"},
		{"a long name", []string{`"` + long + `":{"type":"string"},`, none, `"` + long + `":{"type":"object"},`}, "[keep " + long[:40] + "-SUM] [restore " + long[:40] + "-SUM?]"},
	} {
		var got []string
		for _, d := range chain(c.fields...) {
			got = append(got, fmt.Sprint(kept(d)))
		}
		text := strings.Join(got, " ")
		if strings.Contains(c.want, "SUM") {
			one, other, _ := strings.Cut(text, "] [")
			sum := func(s string) string { s = strings.Trim(s, "]?"); return s[len(s)-8:] }
			if sum(one) == sum(other) {
				t.Errorf("%s: %s", c.says, text)
			}
			text = strings.NewReplacer(sum(one), "SUM", sum(other), "SUM").Replace(text)
		}
		if text != c.want {
			t.Errorf("%s: %s, want %s", c.says, text, c.want)
		}
	}
	all := chain(comma(text), none, comma(object))
	old, next := `"spec":{"policy":"x","size":1}}`, `"spec":{"policy":{"mode":"m"},"size":1}}`
	if got := through(t, all, widget("v0", `{"policy":"x","size":1}`), "v1", "v2", "v0"); !strings.HasSuffix(got[1], `"spec":{"size":1}}`) || !strings.HasSuffix(got[2], `"name":"a"},`+old) {
		t.Errorf("the old one: %s", strings.Join(got, "\n"))
	}
	if got := through(t, all, widget("v2", `{"policy":{"mode":"m"},"size":1}`), "v1", "v0", "v2"); !strings.HasSuffix(got[1], `"spec":{"size":1}}`) || !strings.HasSuffix(got[2], `"name":"a"},`+next) {
		t.Errorf("the new one: %s", strings.Join(got, "\n"))
	}
}

// Two places of which one name of an annotation would be made are kept in two.
func TestPlacesOfOneNameAreKeptApart(t *testing.T) {
	const fields = `"a.b":{"type":"string"},"a":{"type":"object","properties":{"b":{"type":"string"}}},"a/b":{"type":"string"},`
	with, without := Version{"v1", specWith(t, fields+`"z":{"type":"integer"}`)}, Version{"v2", specWith(t, `"z":{"type":"integer"}`)}
	with.Schema.Properties["spec"].Properties["a"].Properties["stays"] = schema{Type: "string"}
	without.Schema.Properties["spec"].Properties["a"] = schema{Type: "object", Properties: map[string]schema{"stays": {Type: "string"}}}
	const spec = `{"a.b":"1","a":{"b":"2","stays":"s"},"a/b":"3","z":1}`
	sorted := func(text string) (all []string) {
		all = strings.FieldsFunc(text[strings.Index(text, `"spec"`):], func(r rune) bool { return strings.ContainsRune(`{},`, r) })
		slices.Sort(all)
		return all
	}
	for _, all := range [][]Draft{Chain(with, without), {Between(without, with), Between(with, without)}} {
		got := through(t, all, widget("v1", spec), "v2", "v1")
		if strings.Contains(got[0][strings.Index(got[0], `"spec"`):], "b") || !slices.Equal(sorted(got[1]), sorted(widget("v1", spec))) {
			t.Errorf("%s", strings.Join(got, "\n"))
		}
	}
	// A place has its name whatever others a version has, and whichever comes first.
	fewer := Version{"v3", specWith(t, `"a/b":{"type":"string"},"z":{"type":"integer"}`)}
	for _, all := range [][]Draft{Chain(with, without, fewer), {Between(with, without), Between(without, fewer)}} {
		if got := through(t, all, widget("v1", spec), "v2", "v3"); !slices.Contains(sorted(got[1]), `"a/b":"3"`) {
			t.Errorf("a version with one of the places: %s", strings.Join(got, "\n"))
		}
	}
	other := Version{"v3", specWith(t, `"a.b":{"type":"string"},"z":{"type":"integer"}`)}
	plain := Version{"v1", specWith(t, `"a":{"type":"object","properties":{"b":{"type":"string"},"stays":{"type":"string"}}},"z":{"type":"integer"}`)}
	got := through(t, Chain(plain, without, other), widget("v1", `{"a":{"b":"2","stays":"s"},"z":1}`), "v3")
	if strings.Contains(got[0][strings.Index(got[0], `"spec"`):], "a.b") {
		t.Errorf("another field got it: %s", got[0])
	}
}
