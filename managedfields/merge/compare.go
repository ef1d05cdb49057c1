package merge

import "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

// Diff is what is different between two values. No field is in two of the
// sets.
type Diff struct {
	Removed  *fieldpath.Set
	Modified *fieldpath.Set
	Added    *fieldpath.Set
	// Equal tells that the values are equal. The sets may be empty without
	// that: an object that is atomic as a whole is no field.
	Equal bool
}

// Changed are the fields that are new or different.
func (d *Diff) Changed() *fieldpath.Set { return d.Modified.Union(d.Added) }

// Exclude leaves out the fields of a set, and all below them.
func (d *Diff) Exclude(set *fieldpath.Set) {
	if set == nil {
		return
	}
	d.Removed = d.Removed.RecursiveDifference(set)
	d.Modified = d.Modified.RecursiveDifference(set)
	d.Added = d.Added.RecursiveDifference(set)
}

// Compare tells what is different in b, from a; both are valid.
func (t *Type) Compare(a, b any) *Diff {
	d := &Diff{Removed: &fieldpath.Set{}, Modified: &fieldpath.Set{}, Added: &fieldpath.Set{}}
	if d.Equal = Equal(a, b); !d.Equal {
		c := comparer{removed: newPlaces(d.Removed), modified: newPlaces(d.Modified), added: newPlaces(d.Added)}
		c.compare(t, side{a, true}, side{b, true})
	}
	return d
}

// side is a value that may not be there, which is not the same as null.
type side struct {
	v  any
	ok bool
}

type comparer struct {
	removed, modified, added places

	path fieldpath.Path
}

// places adds to a set along a path, without going all the way down to it every
// time.
type places struct {
	at []*fieldpath.Set // what is below each part of the path, as far as known
}

func newPlaces(set *fieldpath.Set) places { return places{[]*fieldpath.Set{set}} }

func (p *places) insert(path fieldpath.Path) {
	if len(path) == 0 {
		return // the whole is no field
	}
	last := len(path) - 1
	for n := len(p.at); n <= last; n++ {
		p.at = append(p.at, p.at[n-1].Children.Descend(path[n-1]))
	}
	p.at[last].Members.Insert(path[last])
}

// leave forgets what is below places with paths of n elements.
func (p *places) leave(n int) { p.at = p.at[:min(len(p.at), n+1)] }

// compare compares values that are not equal.
func (c *comparer) compare(t *Type, a, b side) {
	var leaf bool
	switch {
	case !b.ok:
		leaf = c.as(t.form(a.v), t, a, b)
	case !a.ok || t.form(a.v) == t.form(b.v):
		leaf = c.as(t.form(b.v), t, a, b)
	default:
		c.as(t.form(a.v), t, a, b)
		leaf = c.as(t.form(b.v), t, a, b)
	}
	if !leaf {
		c.oneSided(a, b)
	}
}

// oneSided notes a place that only one side has.
func (c *comparer) oneSided(a, b side) bool {
	switch {
	case !a.ok:
		c.added.insert(c.path)
	case !b.ok:
		c.removed.insert(c.path)
	default:
		return false
	}
	return true
}

// leaf notes a place that differs as a whole.
func (c *comparer) leaf(a, b side) {
	if !c.oneSided(a, b) && !Equal(a.v, b.v) {
		c.modified.insert(c.path)
	}
}

// as compares the values as one form, and tells whether that form is one value.
func (c *comparer) as(f form, t *Type, a, b side) (leaf bool) {
	switch f {
	case asScalar:
		c.leaf(a, b)
		return true
	case asList:
		x, _ := a.v.([]any)
		y, _ := b.v.([]any)
		if t.list.atomic || len(x) == 0 && len(y) == 0 {
			c.leaf(a, b)
			return true
		}
		c.items(t.list, x, y)
	case asObject:
		x, _ := a.v.(map[string]any)
		y, _ := b.v.(map[string]any)
		if t.object.atomic || len(x) == 0 && len(y) == 0 {
			c.leaf(a, b)
			return true
		}
		c.fields(t.object, x, y)
	}
	return false
}

func (c *comparer) fields(o *objectType, a, b map[string]any) {
	for name, v := range inOrder(a) {
		w, ok := b[name]
		if !ok || !Equal(v, w) {
			c.field(o, name, side{v, true}, side{w, ok})
		}
	}
	for name, w := range inOrder(b) {
		if _, ok := a[name]; !ok {
			c.field(o, name, side{}, side{w, true})
		}
	}
}

func (c *comparer) field(o *objectType, name string, a, b side) {
	t, element, _ := o.of(name)
	if t != nil {
		c.below(t, element, a, b)
	}
}

func (c *comparer) below(t *Type, element fieldpath.PathElement, a, b side) {
	c.path = append(c.path, element)
	c.compare(t, a, b)
	c.path = c.path[:len(c.path)-1]
	c.removed.leave(len(c.path))
	c.modified.leave(len(c.path))
	c.added.leave(len(c.path))
}

func (c *comparer) items(l *listType, a, b []any) {
	if different, ok := l.fewDifferent(a, b); ok {
		for _, i := range different {
			c.item(l, l.path(a[i]), a[i:i+1], b[i:i+1])
		}
		return
	}
	x, y := l.index(a), l.index(b)
	for i, element := range l.inOrder(a) {
		if x.times[i] == 0 {
			continue
		}
		j := y.find(a[i])
		if j >= 0 && x.times[i] == 1 && y.times[j] == 1 && Equal(a[i], b[j]) {
			continue
		}
		var others []any
		if j >= 0 {
			others = y.all(j)
		}
		c.item(l, element, x.all(i), others)
	}
	for j, element := range l.inOrder(b) {
		if y.times[j] > 0 && x.find(b[j]) < 0 {
			c.item(l, element, nil, y.all(j))
		}
	}
}

// fewDifferent are the places where lists of the same items in the same order
// differ, if they are few and nothing there is a duplicate; else ok is false.
func (l *listType) fewDifferent(a, b []any) (different []int, ok bool) {
	if len(a) != len(b) {
		return nil, false
	}
	var buf []byte
	for i := range a {
		if Equal(a[i], b[i]) {
			continue
		}
		if len(different) == 4 || !l.sameItem(a[i], b[i], &buf) {
			return nil, false
		}
		different = append(different, i)
	}
	for _, i := range different {
		for j := range a {
			if j != i && l.sameItem(a[i], a[j], &buf) { // and so b[i] and b[j] are
				return nil, false
			}
		}
	}
	return different, true
}

// item compares the items of one identity. Several of them are one value, and
// own nothing below.
func (c *comparer) item(l *listType, element fieldpath.PathElement, a, b []any) {
	one := func(list []any) side {
		if len(list) == 0 {
			return side{}
		}
		return side{list[0], true}
	}
	here := func() fieldpath.Path { return append(c.path, element) }
	switch {
	case len(a) < 2 && len(b) < 2:
		c.below(l.element, element, one(a), one(b))
	case len(a) >= 2 && len(b) >= 2:
		if !equalLists(a, b, false) {
			c.modified.insert(here())
		}
	case len(a) >= 2:
		if len(b) > 0 {
			c.below(l.element, element, side{}, one(b))
		}
		c.removed.insert(here())
	default:
		if len(a) > 0 {
			c.below(l.element, element, one(a), side{})
		}
		c.added.insert(here())
	}
}
