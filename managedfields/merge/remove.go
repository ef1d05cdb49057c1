package merge

import "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

// Remove is v, a valid value, without the fields and items of a set, and all
// below them. What is left without fields or items becomes null.
func (t *Type) Remove(v any, set *fieldpath.Set) any {
	switch t.form(v) {
	case asScalar:
		return v
	case asList:
		items, _ := v.([]any)
		if len(items) == 0 || t.list.atomic {
			return nil
		}
		return t.list.remove(items, set)
	case asObject:
		o, _ := v.(map[string]any)
		if len(o) == 0 || t.object.atomic {
			return nil
		}
		return t.object.remove(o, set)
	}
	return nil
}

func (l *listType) remove(items []any, set *fieldpath.Set) any {
	out := make([]any, 0, len(items))
	for _, item := range items {
		element := l.path(item)
		if set.Members.Has(element) {
			continue
		}
		if below, ok := set.Children.Get(element); ok && !below.Empty() {
			item = l.element.Remove(item, below)
		}
		out = append(out, item)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func (o *objectType) remove(fields map[string]any, set *fieldpath.Set) any {
	out := make(map[string]any, len(fields))
	for name, v := range fields {
		t, element, _ := o.of(name)
		if set.Members.Has(element) {
			continue
		}
		if below, ok := set.Children.Get(element); ok && !below.Empty() {
			v = t.Remove(v, below)
		}
		out[name] = v
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// Named is a set with all declared fields that have fields of the set below
// them, which sets leave out.
func (t *Type) Named(set *fieldpath.Set) *fieldpath.Set {
	out := &fieldpath.Set{}
	set.Members.Iterate(func(e fieldpath.PathElement) { out.Members.Insert(e) })
	set.Children.Iterate(func(e fieldpath.PathElement) {
		below, _ := set.Children.Get(e)
		inner, declared := t.below(e)
		if declared {
			out.Members.Insert(e)
		}
		*out.Children.Descend(e) = *inner.Named(below)
	})
	return out
}

// Holds tells that a set has a place of its own, as somebody has who set an
// empty object there, that may hold fields which are no fields of a set: lists
// without items. Of such a place [Type.Remove] may take away more than is asked
// for, and what it takes may not be seen in [Type.Fields].
func (t *Type) Holds(set *fieldpath.Set) (found bool) {
	set.Members.Iterate(func(e fieldpath.PathElement) {
		if inner, declared := t.below(e); declared && inner.object != nil {
			found = found || !inner.object.atomic && len(inner.object.fields) > 0
		}
	})
	set.Children.Iterate(func(e fieldpath.PathElement) {
		if inner, _ := t.below(e); !found && inner != nil {
			below, _ := set.Children.Get(e)
			found = inner.Holds(below)
		}
	})
	return found
}

// below is the type of a place, nil for none; declared says whether the schema
// names it.
func (t *Type) below(e fieldpath.PathElement) (inner *Type, declared bool) {
	switch {
	case t == nil:
	case e.FieldName != nil && t.object != nil:
		inner, _, declared = t.object.of(*e.FieldName)
	case e.Key != nil && t.list != nil:
		inner = t.list.element
	}
	return inner, declared
}
