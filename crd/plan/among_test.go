package plan

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// A text is looked for in the objects around, as far out as there are any.
func TestTextsAmongObjectsAround(t *testing.T) {
	inner := map[string]any{"name": "a", "list": []any{map[string]any{"name": "b"}, "c"}}
	outer := map[string]any{"name": "d", "inner": inner}
	for _, c := range []struct {
		spots []string
		text  string
		want  bool
	}{
		{[]string{"0.name"}, "a", true},
		{[]string{"0.name"}, "d", false},
		{[]string{"1.name"}, "d", true},
		{[]string{"1.name", "0.name"}, "a", true},
		{[]string{"1.inner.name"}, "a", true},
		{[]string{"0.list[].name"}, "b", true},
		{[]string{"0.list[]"}, "c", true},
		{[]string{"0.list.name"}, "b", false},
		{[]string{"2.name"}, "a", false}, // there is nothing so far out
		{[]string{"9.name", "0.name"}, "a", true},
		{[]string{"0.list[!name]"}, "c", true},
		{[]string{"0.list[!other].name"}, "b", true},
		{[]string{"0.list[!name].name"}, "b", false},
		{[]string{"0.list[!other !name].name"}, "b", false},
		{[]string{"0.list[!other !more].name"}, "b", true},
		{nil, "a", false},
	} {
		var spots []spot
		for _, text := range c.spots {
			at, err := newSpot(text)
			if err != nil {
				t.Fatal(text, err)
			}
			spots = append(spots, at)
		}
		if got := new(asking).among(spots, []any{inner, outer}, c.text); got != c.want {
			t.Errorf("%q at %q: %t", c.text, c.spots, got)
		}
	}
	for _, text := range []string{"", "name", "x.name", ".name", "0.list.[].name", "0.list.[!a]", "0.[!a].name"} {
		if _, err := newSpot(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// A text that is where it may not be is there twice; where there is nothing around, as in
// a template's part, it is not looked for.
func TestTextsNotAmongObjectsAround(t *testing.T) {
	for own, want := range map[string]string{
		`inner.text: {notAmong: [1.name]}`:             `inner.text: Duplicate value: "a"`,
		`inner.text: {notAmong: [1.other, 1.name]}`:    `inner.text: Duplicate value: "a"`,
		`inner.text: {notAmong: ["1.tags[]"]}`:         "",
		`inner.text: {notAmong: [7.name]}`:             "",
		`inner.text: {notAmong: [0.text]}`:             `inner.text: Duplicate value: "a"`,
		`inner.text: {among: ["1.tags[]", 0.nothing]}`: `inner.text: Not found: "a"`,
	} {
		said := ""
		for _, e := range samples(t, own).Validate(t.Context(), parsed(t, `{name: a, other: b, tags: [c], inner: {text: a}}`), nil) {
			said += e.Error()
		}
		if said != want {
			t.Errorf("%s: %s, want %s", own, said, want)
		}
	}
}

// Texts are looked for among others in a time that is linear in both.
func TestManyTextsAmongMany(t *testing.T) {
	p, err := NewLibrary(nil).Plan(reflect.TypeFor[*corev1.Pod](), Additions{
		"spec.initContainers[].name":      {NotAmong: []string{"1.containers[].name"}},
		"spec.ephemeralContainers[].name": {Among: []string{"1.initContainers[].name"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	spec := map[string]any{}
	for name, list := range map[string]string{"a": "containers", "b": "initContainers", "b ": "ephemeralContainers"} {
		var all []any
		for i := range 40000 {
			all = append(all, map[string]any{"name": strings.TrimSpace(name) + fmt.Sprint(i)})
		}
		spec[list] = all
	}
	began := time.Now()
	if errs := p.Validate(t.Context(), map[string]any{"spec": spec}, nil); len(errs) > 0 {
		t.Error(errs[0])
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

// A rule may be asked only of texts that are, or are not, at places around, in a time that
// is linear in how many there are.
func TestRulesOfTextsAtPlacesAround(t *testing.T) {
	for own, want := range map[string]string{
		`{among: [1.name], message: is there}`:                            `inner.text: Invalid value: "a": is there`,
		`{among: [1.name], rule: "size(self) == 1"}`:                      "",
		`{among: [1.other], message: is there}`:                           "",
		`{notAmong: [1.name], message: is not there}`:                     "",
		`{notAmong: [1.other, "1.tags[]"], message: is not there}`:        `inner.text: Invalid value: "a": is not there`,
		`{among: [1.name], notAmong: [1.other], message: is in one}`:      `inner.text: Invalid value: "a": is in one`,
		`{among: [1.name], notAmong: [1.other, 1.name], message: in one}`: "",
	} {
		said := ""
		for _, e := range samples(t, `inner.text: {rules: [`+own+`]}`).Validate(t.Context(), parsed(t, `{name: a, tags: [b], inner: {text: a}}`), nil) {
			said += e.Error()
		}
		if said != want {
			t.Errorf("%s: %q, want %q", own, said, want)
		}
	}
	for _, r := range []Rule{{Among: []string{"name"}}, {NotAmong: []string{"x.y"}}} {
		if _, err := NewLibrary(nil).Plan(reflect.TypeFor[*corev1.Pod](), Additions{"spec.nodeName": {Rules: []Rule{r}}}); err == nil {
			t.Errorf("%v is taken", r)
		}
	}
}
