package merge

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Objects of clients may have very many fields and items, in any order, and
// with duplicates.
func TestManyFieldsAndItems(t *testing.T) {
	const n = 30_000
	typ := &Type{object: &objectType{element: &Type{
		list:   &listType{element: &Type{scalar: text}},
		object: &objectType{element: &Type{scalar: text}},
	}}}
	fields, items := map[string]any{}, make([]any, n)
	want := &fieldpath.Set{}
	member := func(at string, e fieldpath.PathElement) { want.Children.Descend(named(at)).Members.Insert(e) }
	for i := range n {
		name := fmt.Sprintf("x%06d", i)
		fields[name], items[i] = name, name
		member("fields", named(name))
	}
	for i := range n {
		v := value.NewValueInterface(items[i])
		member("items", fieldpath.PathElement{Value: &v})
	}
	want.Members.Insert(named("fields"))
	want.Members.Insert(named("items"))
	rand.New(rand.NewPCG(1, 1)).Shuffle(n, func(i, j int) { items[i], items[j] = items[j], items[i] })
	all := map[string]any{"fields": fields, "items": items}
	if got := typ.Fields(all, false); !got.Equals(want) {
		t.Errorf("%d fields", got.Size())
	}
	none := map[string]any{"fields": map[string]any{}, "items": []any{}}
	if d := typ.Compare(none, all); d.Added.Size() != 2*n || !d.Removed.Empty() || !d.Modified.Empty() {
		t.Errorf("%d are added", d.Added.Size())
	}
	if d := typ.Compare(all, none); d.Removed.Size() != 2*n || !d.Added.Empty() || !d.Modified.Empty() {
		t.Errorf("%d are removed", d.Removed.Size())
	}
	twice := map[string]any{"items": append(append([]any{}, items...), items...)}
	if got := typ.Fields(twice, false); got.Size() != n+1 {
		t.Errorf("%d fields with duplicates", got.Size())
	}
	if d := typ.Compare(map[string]any{"items": items}, twice); d.Added.Size() != n || d.Removed.Size() != n {
		t.Errorf("%d are added, %d are removed with duplicates", d.Added.Size(), d.Removed.Size())
	}
	if merged := typ.Merge(none, all); !Equal(merged, all) {
		t.Error("not merged")
	}
}

// What is owned is reconciled in order, whether it is a member, has some below it, or both: what
// is put into a set out of order moves all that is behind it.
func TestReconcilesInOrder(t *testing.T) {
	set := &fieldpath.Set{}
	for i := range 300 {
		e := named(fmt.Sprintf("x%03d", i))
		if i%3 != 0 {
			set.Members.Insert(e)
		}
		if i%3 != 1 {
			set.Children.Descend(e).Members.Insert(named("y"))
		}
	}
	last, n := "", 0
	(&reconciler{}).below(set, func(e fieldpath.PathElement) *Type {
		if n++; *e.FieldName <= last {
			t.Errorf("%s after %s", *e.FieldName, last)
		}
		last = *e.FieldName
		return nil
	})
	if n != 300 {
		t.Errorf("%d of 300", n)
	}
}

func named(name string) fieldpath.PathElement { return fieldpath.PathElement{FieldName: &name} }

// What comes in order comes whole.
func TestOrder(t *testing.T) {
	fields, items := map[string]any{}, []any{}
	l := &listType{element: &Type{scalar: text}}
	for i := range few + 1 {
		name := fmt.Sprintf("%04d", (i*7)%(few+1))
		fields[name] = name
		items = append(items, name)
		last, n := "", 0
		for name, v := range inOrder(fields) {
			if n++; v != name || len(fields) > few && name <= last {
				t.Fatalf("%s after %s", name, last)
			}
			last = name
		}
		last = ""
		for j, e := range l.inOrder(items) {
			if n++; (*e.Value).AsString() != items[j] || len(items) > few && items[j].(string) <= last {
				t.Fatalf("item %v after %s", items[j], last)
			}
			last = items[j].(string)
		}
		if n != 2*(i+1) {
			t.Fatalf("%d of %d", n, i+1)
		}
		for range inOrder(fields) {
			break
		}
		for range l.inOrder(items) {
			break
		}
	}
}
