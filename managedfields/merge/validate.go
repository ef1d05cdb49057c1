package merge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Violation is one place where a value is not of its type.
type Violation struct {
	// Path is where, as structured-merge-diff writes paths; empty for the top.
	Path    string
	Message string
}

// Violations is the error of [Type.Validate]. It has at least one.
type Violations []Violation

// Error implements error.
func (v Violations) Error() string {
	lines := make([]string, 0, len(v)+1)
	for _, one := range v {
		if one.Path == "" {
			lines = append(lines, one.Message)
		} else {
			lines = append(lines, one.Path+": "+one.Message)
		}
	}
	if len(lines) == 1 {
		return lines[0]
	}
	return "errors:\n  " + strings.Join(lines, "\n  ")
}

// Validate checks that v is of type t. With duplicates, lists that are sets or
// maps may have several items of one identity. The error is [Violations], in
// the words of structured-merge-diff.
func (t *Type) Validate(v any, duplicates bool) error { return t.ValidateLike(v, nil, duplicates) }

// ValidateLike is Validate of a value that shares parts with another one, nil for none,
// that was found to be valid by the same rules.
func (t *Type) ValidateLike(v, valid any, duplicates bool) error {
	c := checker{duplicates: duplicates, left: maxPaths}
	if c.ok(t, v, valid) {
		return nil
	}
	if out := c.explain(t, v); len(out) > 0 {
		return out
	}
	return nil
}

type checker struct {
	duplicates bool
	// left is how many bytes of paths may yet be made.
	left int
}

// maxPaths is how many bytes of paths are made to explain what is wrong. After
// that only what is first is told of: paths repeat the names on their way, so
// that all of them may be far longer than the value.
const maxPaths = 16 << 20

// ok says whether explain would find nothing. It looks at everything once, in
// no order, and makes nothing. valid is of the type, if it is not nil.
func (c *checker) ok(t *Type, v, valid any) bool {
	if valid != nil && one(v, valid) {
		return true
	}
	switch t.form(v) {
	case asScalar:
		return t.scalar.allows(v)
	case asList:
		items, ok := v.([]any)
		others, _ := valid.([]any)
		return (ok || v == nil) && c.okItems(t.list, items, others)
	case asObject:
		o, ok := v.(map[string]any)
		if !ok {
			return v == nil
		}
		others, _ := valid.(map[string]any)
		for name, v := range o {
			ft := t.object.typeOf(name)
			if ft == nil || !c.ok(ft, v, others[name]) {
				return false
			}
		}
		return true
	}
	return false
}

func (c *checker) okItems(l *listType, items, others []any) bool {
	for i, item := range items {
		var other any
		if i < len(others) {
			other = others[i]
		}
		if !l.atomic && l.check(item) != nil || !c.ok(l.element, item, other) {
			return false
		}
	}
	if l.atomic || c.duplicates || len(items) < 2 {
		return true
	}
	x := l.index(items)
	return len(x.first) == len(items)
}

func (s scalarType) allows(v any) bool {
	switch v.(type) {
	case nil:
		return true
	case string:
		return s == text || s == anyScalar
	case bool:
		return s == boolean || s == anyScalar
	case int64, float64:
		return s == numeric || s == anyScalar
	}
	return false
}

// explain is what is wrong with v.
func (c *checker) explain(t *Type, v any) Violations {
	switch t.form(v) {
	case asScalar:
		return c.explainScalar(t.scalar, v)
	case asList:
		items, ok := v.([]any)
		if !ok && v != nil {
			return wrong("expected list, got &{%v}", v)
		}
		return c.explainItems(t.list, items)
	case asObject:
		o, ok := v.(map[string]any)
		if !ok && v != nil {
			return wrong("expected map, got &{%v}", v)
		}
		return c.explainFields(t.object, o)
	}
	return wrong("schema error: invalid atom: inlined")
}

func (c *checker) explainScalar(s scalarType, v any) Violations {
	switch {
	case s.allows(v):
		return nil
	case s == numeric:
		return wrong("expected numeric (int or float), got %T", v)
	case s == text:
		return wrong("expected string, got &value.valueUnstructured{Value:%#v}", v)
	case s == boolean:
		return wrong("expected boolean, got &{%v}", v)
	}
	return wrong("expected any scalar, got &{%v}", v)
}

func (c *checker) explainItems(l *listType, items []any) (out Violations) {
	seen := map[string]bool{}
	for i, item := range items {
		path := fmt.Sprintf("[%d]", i)
		if !l.atomic {
			if err := l.check(item); err != nil {
				return append(out, wrong("element %d: %v", i, err)...)
			}
			path = l.path(item).String()
			identity := string(l.appendIdentity(nil, item))
			if seen[identity] && !c.duplicates {
				out = append(out, wrong("duplicate entries for key %v", path)...)
			}
			seen[identity] = true
		}
		out = append(out, c.below(path, c.explain(l.element, item))...)
	}
	return out
}

func (c *checker) explainFields(o *objectType, fields map[string]any) (out Violations) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		t := o.typeOf(name)
		if t == nil {
			return append(out, c.below("."+name, wrong("field not declared in schema"))...)
		}
		out = append(out, c.below("."+name, c.explain(t, fields[name]))...)
	}
	return out
}

func wrong(format string, args ...any) Violations {
	return Violations{{Message: fmt.Sprintf(format, args...)}}
}

func (c *checker) below(path string, v Violations) Violations {
	for i := range v {
		v[i].Path = path + v[i].Path
		if c.left -= len(v[i].Path); c.left < 0 {
			return v[:i+1]
		}
	}
	return v
}
