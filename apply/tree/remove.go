package tree

import "sigs.k8s.io/structured-merge-diff/v4/fieldpath"

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
		var inner *Type
		switch {
		case t == nil:
		case e.FieldName != nil && t.object != nil:
			var declared bool
			if inner, _, declared = t.object.of(*e.FieldName); declared {
				out.Members.Insert(e)
			}
		case e.Key != nil && t.list != nil:
			inner = t.list.element
		}
		*out.Children.Descend(e) = *inner.Named(below)
	})
	return out
}
