package view

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// What was converted before the server completed the metadata is stored, and
// shown, instead of being converted again; when anything else changed it is
// not. The outcome is the same either way.
func TestPreviews_CRD11(t *testing.T) {
	for _, tidy := range []bool{false, true} {
		t.Run(fmt.Sprintf("tidy %t", tidy), func(t *testing.T) { testPreviews(t, tidy) })
	}
}

func testPreviews(t *testing.T, tidy bool) {
	s := newShelf(t)
	s.conv.Tidy = tidy // the schema has nothing to prune
	r := s.cronTabs()
	meta := func(tree map[string]any) map[string]any { return tree["metadata"].(map[string]any) }
	for name, c := range map[string]struct {
		complete func(tree map[string]any)
		spared   bool
	}{
		"nothing": {func(map[string]any) {}, true},
		"the server's own metadata": {func(tree map[string]any) {
			m := meta(tree)
			m["generation"], m["uid"], m["creationTimestamp"], m["managedFields"] = int64(7), "u", "2020-01-01T00:00:00Z", object.Managed(`[{"manager":"m"}]`)
		}, true},
		"a field":               {func(tree map[string]any) { tree["status"] = "x" }, false},
		"a value":               {func(tree map[string]any) { tree["kind"] = "Other" }, false},
		"a field less":          {func(tree map[string]any) { delete(tree, "spec") }, false},
		"one field for another": {func(tree map[string]any) { delete(tree, "spec"); tree["other"] = "x" }, false},
		"labels":                {func(tree map[string]any) { meta(tree)["labels"] = map[string]any{"a": "c"} }, false},
		"no labels":             {func(tree map[string]any) { delete(meta(tree), "labels") }, false},
		"annotations":           {func(tree map[string]any) { meta(tree)["annotations"] = map[string]any{"a": "c"} }, false},
		"a name":                {func(tree map[string]any) { meta(tree)["name"] = "two" }, false},
		"no metadata":           {func(tree map[string]any) { delete(tree, "metadata") }, false},
	} {
		for at, other := range map[string]string{v1: v1beta1, v1beta1: v1} {
			tree := parse(t, catalogtest.Tab(at, "one", "h", "1", `"generation":1,"labels":{"a":"b"}`))
			tree["spec"] = map[string]any{"replicas": int64(1)}
			p, err := r.Preview(t.Context(), tree, other, object.Text{})
			if err != nil || p.Tree()["apiVersion"] != "example.com/"+other || (p.text != nil) != tidy {
				t.Fatalf("%v, %v", p, err)
			}
			c.complete(tree)
			if got, _ := p.complete(tree); (got != nil) != c.spared {
				t.Errorf("%s at %s: the preview holds: %t", name, at, got != nil)
			}
			if name == "no metadata" || name == "a value" {
				continue // no converter takes them
			}
			s.converts(t, r, name, at, other, tree, p, c.spared)
		}
	}
}

// converts compares a draft that has a preview with one that has none.
func (s *shelf) converts(t *testing.T, r *Renderer, name, at, other string, tree map[string]any, p *Preview, spared bool) {
	t.Helper()
	before := s.conv.Calls.Load()
	with, err := r.Draft(t.Context(), r.Def.Version(at), object.Clone(tree), object.Text{}, p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := with.View(t.Context(), other)
	if err != nil {
		t.Fatal(err)
	}
	if n := s.conv.Calls.Load() - before; (n == 0) != spared {
		t.Errorf("%s at %s: %d conversions", name, at, n)
	}
	without, err := r.Draft(t.Context(), r.Def.Version(at), object.Clone(tree), object.Text{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := without.View(t.Context(), other)
	if err != nil || !bytes.Equal(with.Stored, without.Stored) || !bytes.Equal(got, want) {
		t.Errorf("%s at %s: stored\n%s\nshown\n%s\nwithout a preview stored\n%s\nshown\n%s", name, at, with.Stored, got, without.Stored, want)
	}
}

// A preview is remembered as the view that its conversion made, and spares the
// next reader one.
func TestPreviewsAreTheNextReadersViews_CRD11(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	tree := parse(t, catalogtest.Tab(v1, "one", "h", "1", `"generation":1`))
	p, err := r.Preview(t.Context(), tree, v1beta1, object.Text{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := r.Draft(t.Context(), r.Def.Version(v1), tree, object.Text{}, p)
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := d.Committed(9, "")
	if err != nil {
		t.Fatal(err)
	}
	data, err := r.View(t.Context(), e, v1beta1)
	if want := `"hostPort":"h:1","kind":"CronTab","metadata":{"generation":1,"name":"one","resourceVersion":"9"}`; err != nil || !bytes.Contains(data, []byte(want)) {
		t.Errorf("got %s, %v", data, err)
	}
	if s.conv.Calls.Load() != 1 || s.spared.Load() != 1 {
		t.Errorf("%d conversions, %d spared", s.conv.Calls.Load(), s.spared.Load())
	}
}

// A preview whose converter changed is not remembered as a view.
func TestPassingPreviewsAreNotRemembered(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	tree := parse(t, catalogtest.Tab(v1, "one", "h", "1", `"generation":1`))
	during, err := func() (*Preview, error) {
		s.conv.During = func() { s.conv.Revision.Add(1) }
		defer func() { s.conv.During = nil }()
		return r.Preview(t.Context(), tree, v1beta1, object.Text{})
	}()
	if err != nil {
		t.Fatal(err)
	}
	after, err := r.Preview(t.Context(), tree, v1beta1, object.Text{})
	if err != nil {
		t.Fatal(err)
	}
	s.conv.Revision.Add(1)
	for name, p := range map[string]*Preview{"changed during the conversion": during, "changed after it": after} {
		d, err := r.Draft(t.Context(), r.Def.Version(v1), object.Clone(tree), object.Text{}, p)
		if err != nil {
			t.Fatal(err)
		}
		e, _, err := d.Committed(9, "")
		if err != nil || e.view(r.KeyOf(encoding.At(v1beta1))) != nil || e.view(p.Key) != nil {
			t.Errorf("%s: it was remembered (%v)", name, err)
		}
	}
	s.conv.BreakDown("broken")
	if _, err := r.Preview(t.Context(), tree, v1beta1, object.Text{}); err == nil {
		t.Error("a preview without a converter")
	}
}

// Readers of a third version see what is made of the stored form. What was
// made of the form that was sent need not be the same, and is not shown.
func TestPreviewsOfAThirdVersionAreNotShown_CRD11(t *testing.T) {
	third := strings.Replace(catalogtest.CronTab(v1, false), "  - name: v1\n", `
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {hostPort: {type: string}}}}
  - name: v1
`, 1)
	s := newShelf(t)
	r := s.defined(third)
	tree := parse(t, catalogtest.Tab(v1beta1, "one", "h", "1", `"generation":1`))
	p, err := r.Preview(t.Context(), tree, "v2", object.Text{})
	if err != nil {
		t.Fatal(err)
	}
	view := func(previews ...*Preview) string {
		d, err := r.Draft(t.Context(), r.Def.Version(v1beta1), object.Clone(tree), object.Text{}, previews...)
		if err != nil {
			t.Fatal(err)
		}
		out, err := d.View(t.Context(), "v2")
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if got, want := view(p), view(); got != want {
		t.Errorf("shown %s\ninstead of %s", got, want)
	}
}

// A preview is the same whether the state before is known or not, and shares
// with it what is written the same.
func TestPreviewsShareWithTheStateBefore_CRD11(t *testing.T) {
	s := newShelf(t)
	s.conv.Tidy = true
	r := s.cronTabs()
	const more = `"generation":1,"labels":{"a":"b"}`
	live := object.Text{Tree: parse(t, catalogtest.Tab(v1beta1, "one", "h", "1", more))}
	var err error
	if live.Data, err = object.Encode(live.Tree); err != nil {
		t.Fatal(err)
	}
	next := parse(t, catalogtest.Tab(v1, "one", "h", "2", more))
	var trees []map[string]any
	for _, known := range []object.Text{{}, live} {
		p, err := r.Preview(t.Context(), next, v1beta1, known)
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, p.Tree())
	}
	if !object.Equal(trees[0], trees[1]) {
		t.Errorf("got %v, %v", trees[0], trees[1])
	}
	labels := func(tree map[string]any) uintptr {
		return reflect.ValueOf(tree["metadata"].(map[string]any)["labels"]).Pointer()
	}
	if labels(trees[0]) == labels(live.Tree) || labels(trees[1]) != labels(live.Tree) {
		t.Errorf("the labels are shared: %t, %t", labels(trees[0]) == labels(live.Tree), labels(trees[1]) == labels(live.Tree))
	}
}
