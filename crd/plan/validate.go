package plan

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate checks an object; old is nil for a new one. What is wrong with the
// change comes after what is wrong with the object, if not ChangesFirst. The fields at the top that
// are named in but are not judged themselves, as the write does not change them. Where ctx is
// done the object is not judged to its end, and refused.
func (p *Plan) Validate(ctx context.Context, obj, old map[string]any, but ...string) field.ErrorList {
	var before any
	if old != nil {
		before = old
	}
	asking, end := newAsking(ctx)
	defer end()
	at := place{value: obj, old: before, but: but, asking: asking}
	if p.ChangesFirst || old == nil {
		return p.root.validate(at)
	}
	at.late = &field.ErrorList{}
	errs := p.root.validate(at) // which fills what comes late
	return append(errs, *at.late...)
}

// ValidateField checks one field of an object, and what is below it, for a write
// through a subresource: what is immutable to a write of the whole may be what
// the subresource is there to change.
func (p *Plan) ValidateField(ctx context.Context, name string, obj, old map[string]any) field.ErrorList {
	n := p.root.fields[name]
	if n == nil || obj[name] == nil {
		return nil
	}
	asking, end := newAsking(ctx)
	defer end()
	return n.validate(place{value: obj[name], old: old[name], path: field.NewPath(name), up: []any{obj}, opens: name != statusField, asking: asking})
}

// statusField is the field that controllers write, and only through subresources.
const statusField = "status"

// place is a value and where it is.
type place struct {
	value, old any
	path       *field.Path
	up         []any
	key        string // in a map
	// added: the object around it was there before, and had no such field.
	added bool
	// opens: at this value nothing is immutable.
	opens bool
	// but: fields that are not judged.
	but []string
	// late is where the changes go that are refused, nil to tell them in place.
	late *field.ErrorList
	// asking is the time for the rules of the whole object.
	asking *asking
	// beside is the list that the value is an item of, where a rule compares these.
	beside *items
}

// ofChange is what is told in place of what is wrong with a change.
func (p place) ofChange(errs ...*field.Error) field.ErrorList {
	if p.late == nil {
		return errs
	}
	*p.late = append(*p.late, errs...)
	return nil
}

// tooMany reports whether enough problems are known.
func (p place) tooMany(errs field.ErrorList) bool {
	return len(errs) > maxProblems || p.late != nil && len(*p.late) > maxProblems
}

// maxProblems is how many problems of one object are told, about.
const maxProblems = 100

func (n *node) validate(p place) field.ErrorList {
	if !n.busy {
		return nil
	}
	var errs field.ErrorList
	if n.check != nil {
		if n.check.passes(p) {
			return nil
		}
		errs = n.check.value(p)
	}
	switch x := p.value.(type) {
	case map[string]any:
		if n.fields != nil {
			return append(errs, n.validateFields(x, p)...)
		}
		if n.element != nil && n.element.busy {
			before, _ := p.old.(map[string]any)
			for _, k := range sortedKeys(x) {
				errs = append(errs, n.element.validate(place{value: x[k], old: before[k], path: p.path.Key(k), up: p.up, key: k, late: p.late, asking: p.asking})...)
			}
		}
	case []any:
		if n.element == nil || !n.element.busy {
			return errs
		}
		before, _ := p.old.([]any)
		var beside *items
		if n.element.check != nil && n.element.check.alike {
			beside = &items{all: x}
		}
		for i, item := range x {
			var was any
			if i < len(before) {
				was = before[i]
			}
			errs = append(errs, n.element.validate(place{value: item, old: was, path: p.path.Index(i), up: p.up, late: p.late, asking: p.asking, beside: beside})...)
			if p.tooMany(errs) {
				return errs
			}
		}
	}
	return errs
}

func (n *node) validateFields(obj map[string]any, p place) field.ErrorList {
	var errs field.ErrorList
	before, _ := p.old.(map[string]any)
	below := around(obj, p.up)
	for _, name := range n.order {
		if slices.Contains(p.but, name) {
			continue
		}
		child, v := n.fields[name], obj[name]
		if child.check != nil && !concerns(child.check.When, obj) {
			continue
		}
		var was any
		if before != nil {
			was = before[name]
		}
		missing := child.check != nil && child.check.Required && child.empty(v)
		if !missing && v == nil && (was == nil || child.check == nil) {
			continue
		}
		path := p.path.Child(name)
		if missing {
			if child.check.Immutable && was != nil {
				errs = append(errs, p.ofChange(child.check.unchanged(place{value: v, old: was, path: path})...)...)
			}
			errs = append(errs, field.Required(path, child.check.Missing))
			continue
		}
		errs = append(errs, child.validate(place{value: v, old: was, path: path, up: below, late: p.late, asking: p.asking, added: before != nil && was == nil && !child.empty(v)})...)
	}
	return errs
}

// empty reports whether a value is none: a text, a list or a map without anything
// in it. An object is one even if it has no field.
func (n *node) empty(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case string:
		return x == ""
	case []any:
		return len(x) == 0
	case map[string]any:
		return len(x) == 0 && n.element != nil
	}
	return false
}

func sortedKeys(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
