package proof

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/conversion/function"
)

// Who acknowledges a field acknowledges what is below it, and nothing that is only called
// like it.
func TestWhatIsAcknowledged(t *testing.T) {
	for _, c := range []struct {
		paths, field string
		want         bool
	}{
		{"spec.a", "spec.a", true}, {"spec.a", "spec.a.b", true}, {"spec.a", "spec.a[*]", true}, {"spec.a", "spec.ab", false}, {"spec.a.b", "spec.a", false},
		{" .spec.a", "spec.a", true}, {"spec.a[].b", "spec.a[*].b", true}, {"spec.a[*]", "spec.a[*].c", true}, {"", "spec.a", false}, {"", "", false}, {"spec,other", "other.x", true},
	} {
		if got := Covers(strings.Split(c.paths, ","), c.field); got != c.want {
			t.Errorf("%q for %q: %v", c.paths, c.field, got)
		}
	}
	if Covers(nil, "spec") {
		t.Error("nothing covers a field")
	}
}

// Samples are objects as somebody writes them, the fullest first and the least in the first
// few, of each branch; they have no end, and who stops gets no more.
func TestSamplesOfAVersion(t *testing.T) {
	d := definedBy(t, `{type: object, properties: {spec: {type: object, oneOf: [{required: [a]}, {required: [b]}], properties: {a: {type: string}, b: {type: integer}, c: {type: string}}}}}`)
	for n := 1; n < 40; n++ {
		all, err := Samples(d, "v1", 1)
		if err != nil {
			t.Fatal(err)
		}
		var got []map[string]any
		for obj := range all {
			if got = append(got, obj); len(got) == n {
				break
			}
		}
		full, _ := got[0]["spec"].(map[string]any)
		if len(got) != n || full["a"] == nil || full["c"] == nil || full["b"] != nil {
			t.Fatalf("%d: %v", n, got)
		}
		if n < 5 {
			continue
		}
		if other, _ := got[1]["spec"].(map[string]any); other["b"] == nil || other["a"] != nil || got[4]["spec"] != nil {
			t.Fatalf("%d: %v", n, got)
		}
		meta, _ := got[n-1]["metadata"].(map[string]any)
		if meta["name"] == nil || meta["uid"] != nil || meta["generation"] != nil || meta["creationTimestamp"] != nil {
			t.Errorf("%d: the server's metadata is there: %v", n, meta)
		}
	}
	if _, err := Samples(d, "v7", 1); err == nil || err.Error() != "widgets.example.com has no version v7" {
		t.Error(err)
	}
	if _, err := NewRecorder(d, "v7"); err == nil || err.Error() != "widgets.example.com has no version v7" {
		t.Error(err)
	}
}

// A converter that is asked seldom waits, but for nobody who has gone; what it says is
// passed on.
func TestConvertersAreAskedSeldom(t *testing.T) {
	calls := 0
	fails := errors.New("not this one")
	c := function.Converter(func(map[string]any, string) error { calls++; return fails })
	if got := paced(c, 0); reflect.TypeOf(got) != reflect.TypeOf(c) {
		t.Errorf("without a pace: %T", got)
	}
	one := [][]byte{[]byte(`{"apiVersion":"example.com/v1","kind":"Widget"}`)}
	p := paced(c, 20)
	began := time.Now()
	for range 3 {
		if _, err := p.Convert(t.Context(), "example.com/v2", one); err == nil || !strings.Contains(err.Error(), fails.Error()) {
			t.Error(err)
		}
	}
	if took := time.Since(began); took < 100*time.Millisecond || calls != 3 {
		t.Errorf("%d calls in %s", calls, took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.(*pace).next = time.Now().Add(time.Hour)
	if _, err := p.Convert(ctx, "example.com/v2", one); !errors.Is(err, context.Canceled) || calls != 3 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// Texts of a pattern match it, whatever it is written with.
func TestTextsOfPatterns(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, pattern := range []string{`^a*b$`, `^a+$`, `^.$`, `^(?s:.)x?$`, `^(ab|cd)\d{2,3}$`, `^[a-c][^a]$`, `^[é-ü]$`, `^a{3,}$`, `^(a|b)*c+$`} {
		lengths := map[int]bool{}
		for range 50 {
			text, ok := matching(pattern, random)
			if !ok || !regexp.MustCompile(pattern).MatchString(text) {
				t.Fatalf("%s: %q, %v", pattern, text, ok)
			}
			lengths[len(text)] = true
		}
		if open := strings.ContainsAny(pattern, "*+"); open && len(lengths) < 3 {
			t.Errorf("%s: the lengths are %v", pattern, lengths)
		}
	}
	for _, pattern := range []string{`(`, `[^\x00-\x{10FFFF}]`, `^((a{100}){10}){9}$`} {
		if text, ok := matching(pattern, random); ok {
			t.Errorf("%s: %q", pattern, text)
		}
	}
}

// What is refused is taken out where it is, if it is there, and never the metadata.
func TestRefusedFieldsAreTakenOut(t *testing.T) {
	for _, c := range []struct {
		names, left string
	}{
		{"spec.a", "b"}, {"spec.c", ""}, {"spec.a.x", ""}, {"none.a", ""}, {"metadata.name", ""}, {"spec..a", ""}, {"", ""}, {"spec.metadata", "a,b"},
	} {
		spec := map[string]any{"a": "x", "b": "y"}
		if c.names == "spec.metadata" {
			spec["metadata"] = map[string]any{}
		}
		obj := map[string]any{"metadata": map[string]any{"name": "n"}, "spec": spec}
		if got := removed(obj, strings.Split(c.names, ".")); got != (c.left != "") {
			t.Errorf("%q is taken out: %v", c.names, got)
		}
		left := strings.Join(slices.DeleteFunc([]string{"a", "b", "metadata"}, func(n string) bool { return spec[n] == nil }), ",")
		if want := c.left; want != "" && left != want || want == "" && left != "a,b" || len(obj["metadata"].(map[string]any)) != 1 {
			t.Errorf("%q leaves %v", c.names, obj)
		}
	}
	if out, ok := edited(map[string]any{"a": "x"}, []any{0}, nil, true); ok {
		t.Errorf("an item of no list is gone: %v", out)
	}
}

// The fields of an object are those of its schema, under branches, too, without what every
// object has.
func TestFieldsOfASchema(t *testing.T) {
	d := definedBy(t, `{type: object, properties: {metadata: {type: object}, kind: {type: string}, apiVersion: {type: string}, spec: {type: object, properties: {kind: {type: string}, metadata: {type: string}, "a/b": {type: string}}}}}`)
	o, err := newObjects(d, d.Versions[0], 1)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range o.targets {
		got = append(got, f.field)
	}
	if want := []string{"spec", "spec['a/b']", "spec.kind", "spec.metadata"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	inBranch := &schema{AnyOf: []schema{{}, {Properties: map[string]schema{"x": {Type: "string"}}}}}
	if at, isKey := under(inBranch, "x"); at == nil || at.Type != "string" || isKey {
		t.Errorf("under a branch is %v, %v", at, isKey)
	}
	if at, isKey := under(inBranch, "y"); at != nil || isKey {
		t.Errorf("under no branch is %v, %v", at, isKey)
	}
}
