package merge

import "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

// Fields is the set of all fields and items that v, a valid value, sets. It is
// faster when it is told that v has no duplicates.
func (t *Type) Fields(v any, unique bool) *fieldpath.Set {
	set := &fieldpath.Set{}
	t.fields(v, unique, set)
	return set
}

// fields adds to set, which is empty, that of this place, what is below it, and says whether
// the place itself is a field that is owned.
func (t *Type) fields(v any, unique bool, set *fieldpath.Set) (owned bool) {
	switch t.form(v) {
	case asScalar:
		return true
	case asList:
		if t.list.atomic {
			return true
		}
		items, _ := v.([]any)
		t.list.fields(items, unique, set)
	case asObject:
		if t.object.atomic {
			return true
		}
		o, _ := v.(map[string]any)
		set.Members = fieldpath.MakePathElementSet(len(o))
		for name, v := range inOrder(o) {
			ft, element, declared := t.object.of(name)
			var below fieldpath.Set
			owned := ft.fields(v, unique, &below)
			if owned || !declared || empty(v) {
				set.Members.Insert(element)
			}
			attach(set, element, &below)
		}
	}
	return false
}

func (l *listType) fields(items []any, unique bool, set *fieldpath.Set) {
	set.Members = fieldpath.MakePathElementSet(len(items))
	var x index
	if !unique {
		x = l.index(items)
	}
	for i, element := range l.inOrder(items) {
		if !unique && x.times[i] == 0 {
			continue // a duplicate; the first one stands for all
		}
		item := items[i]
		set.Members.Insert(element)
		if !unique && x.times[i] > 1 {
			continue
		}
		var below fieldpath.Set
		l.element.fields(item, unique, &below)
		attach(set, element, &below)
	}
}

// attach puts the fields below an element into the set that it is in.
func attach(set *fieldpath.Set, element fieldpath.PathElement, below *fieldpath.Set) {
	if below.Members.Size() > 0 || !below.Children.Empty() {
		*set.Children.Descend(element) = *below
	}
}

// empty tells that v is null or an object without fields.
func empty(v any) bool {
	if o, ok := v.(map[string]any); ok {
		return len(o) == 0
	}
	return v == nil
}
