package merge

import "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

// Reconcile brings a set into agreement with the type, which may have changed
// since it was made: who owned parts of what is atomic now owns it as a whole.
// What was atomic and is not any more stays owned, without what is below it.
// The result is set itself if nothing is to be done.
func (t *Type) Reconcile(set *fieldpath.Set) *fieldpath.Set {
	r := reconciler{}
	r.visit(t, set, false)
	if r.atomic == nil {
		return set
	}
	return set.RecursiveDifference(r.atomic).Union(r.atomic)
}

type reconciler struct {
	path fieldpath.Path
	// atomic are the places that must be owned as a whole.
	atomic *fieldpath.Set
}

// visit looks at a place; set is what is owned below it, nil for nothing; whole
// says that nothing but the place itself is owned.
func (r *reconciler) visit(t *Type, set *fieldpath.Set, whole bool) {
	switch t.firstForm() {
	case asObject:
		switch {
		case t.object.free:
		case !whole && t.object.atomic:
			if set != nil && set.Size() > 0 {
				r.replace()
			}
		case set != nil:
			r.below(set, func(e fieldpath.PathElement) *Type {
				if e.FieldName == nil {
					return t.object.element
				}
				return t.object.typeOf(*e.FieldName)
			})
		}
	case asList:
		switch {
		case !whole && t.list.atomic:
			r.replace()
		case set != nil:
			r.below(set, func(fieldpath.PathElement) *Type { return t.list.element })
		}
	}
}

func (r *reconciler) replace() {
	if r.atomic == nil {
		r.atomic = &fieldpath.Set{}
	}
	r.atomic.Insert(r.path)
}

func (r *reconciler) below(set *fieldpath.Set, typeOf func(fieldpath.PathElement) *Type) {
	// All in one order, in which r.atomic grows at its end.
	var parents fieldpath.PathElementSet
	set.Children.Iterate(parents.Insert)
	parents.Union(&set.Members).Iterate(func(e fieldpath.PathElement) {
		t := typeOf(e)
		if t == nil {
			return // not in the schema
		}
		inner, has := set.Children.Get(e)
		r.path = append(r.path, e)
		r.visit(t, inner, !has)
		r.path = r.path[:len(r.path)-1]
	})
}
