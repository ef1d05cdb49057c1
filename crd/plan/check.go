package plan

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/formats"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/schema"
)

// checker is an [Addition] made ready to check values.
type checker struct {
	*Addition
	pattern *regexp.Regexp
	format  formats.Format
	keys    func(string) []string
	one     []string
	most    []string
	among   []spot
	not     []spot
	rules   []rule
	except  [][]string
	// lenient: the format is that of what is changed.
	lenient bool
	// alike: a rule compares items of a list.
	alike bool
}

func newChecker(a *Addition, t reflect.Type) (*checker, error) {
	c := &checker{Addition: a, one: fieldsOf(a.OneOf, t), most: fieldsOf(a.AtMostOneOf, t)}
	c.lenient = a.Format == "ip" || a.Format == "cidr" || a.Format == "endpoint-ip" // which were let be otherwise once
	var err error
	switch {
	case a.Judged != "" && a.Judged != Changed && a.Judged != New:
		return nil, fmt.Errorf("values are judged when they are changed or new, not when %q", a.Judged)
	case a.Judged == New && a.Immutable:
		return nil, fmt.Errorf("what is judged of new objects alone cannot be immutable")
	}
	if a.Pattern != "" {
		if c.pattern, err = regexp.Compile(a.Pattern); err != nil {
			return nil, err
		}
	}
	if c.format, err = formats.Of(a.Format); err != nil {
		return nil, err
	}
	if c.keys = formats.OfText(a.Keys); c.keys == nil && a.Keys != "" {
		return nil, fmt.Errorf("there is no format %q of keys", a.Keys)
	}
	if c.among, err = spots(a.Among); err != nil {
		return nil, err
	}
	if c.not, err = spots(a.NotAmong); err != nil {
		return nil, err
	}
	for _, r := range a.Rules {
		made, err := newRule(r, t)
		if err != nil {
			return nil, err
		}
		c.alike = c.alike || r.Alike != nil
		c.rules = append(c.rules, made)
	}
	for _, path := range a.Except {
		parts, err := steps(path)
		if err != nil {
			return nil, err
		}
		c.except = append(c.except, parts)
	}
	return c, nil
}

// fieldsOf are the fields of a choice, of which the first may be "*".
func fieldsOf(names []string, t reflect.Type) []string {
	if len(names) == 0 || names[0] != "*" || t.Kind() != reflect.Struct {
		return names
	}
	var all []string
	for _, f := range schema.Fields(t) {
		all = append(all, f.Name)
	}
	return all
}

// passes tells a value of which nothing is to be said.
func (c *checker) passes(p place) bool {
	switch c.Judged {
	case Changed:
		return p.old != nil && reflect.DeepEqual(p.value, p.old)
	case New:
		return p.old != nil || p.added
	}
	return false
}

// value checks one value by all that is said of it.
func (c *checker) value(p place) field.ErrorList {
	var errs field.ErrorList
	if c.Immutable && !p.opens && (p.old != nil || p.added && !c.Settable) {
		errs = append(errs, p.ofChange(c.unchanged(p)...)...)
	}
	switch x := p.value.(type) {
	case string:
		errs = append(errs, c.text(x, p.path)...)
	case int64:
		errs = append(errs, c.number(x, p.path)...)
		errs = append(errs, c.bounded(x, p)...)
	case []any:
		errs = append(errs, c.items(x, p.path)...)
	case map[string]any:
		errs = append(errs, c.members(x, p.path)...)
	}
	if c.Grows != "" && number(p.value) < number(p.old) {
		errs = append(errs, field.Invalid(p.path, number(p.value), c.Grows))
	}
	if s, ok := p.value.(string); ok && s != "" && c.among != nil && !p.asking.among(c.among, p.up, s) {
		errs = append(errs, field.NotFound(p.path, s))
	}
	if s, ok := p.value.(string); ok && c.not != nil && p.asking.among(c.not, p.up, s) {
		errs = append(errs, field.Duplicate(p.path, s))
	}
	for i := range c.rules {
		switch err := c.rules[i].ask(p); {
		case err == nil:
		case c.rules[i].change:
			errs = append(errs, p.ofChange(err)...)
		default:
			errs = append(errs, err)
		}
	}
	if c.format != nil && p.value != nil && !(c.lenient && reflect.DeepEqual(p.value, p.old)) {
		errs = append(errs, c.format(p.value, p.path)...)
	}
	return errs
}

func (c *checker) text(x string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c.Enum != nil && !slices.Contains(c.Enum, x) {
		errs = append(errs, field.NotSupported(path, x, c.Enum))
	}
	if c.pattern != nil && !c.pattern.MatchString(x) {
		errs = append(errs, field.Invalid(path, x, c.because(fmt.Sprintf("must match %s", c.Pattern))))
	}
	if c.MaxLength != nil && len(x) > *c.MaxLength {
		errs = append(errs, field.TooLong(path, x, *c.MaxLength))
	}
	return errs
}

func (c *checker) because(usual string) string {
	if c.Message != "" {
		return c.Message
	}
	return usual
}

func (c *checker) number(x int64, path *field.Path) field.ErrorList {
	low, high := c.Minimum != nil && x < *c.Minimum, c.Maximum != nil && x > *c.Maximum
	if !low && !high {
		return nil
	}
	var usual string
	switch {
	case c.Minimum != nil && c.Maximum != nil:
		usual = fmt.Sprintf("must be between %d and %d, inclusive", *c.Minimum, *c.Maximum)
	case high:
		usual = fmt.Sprintf("must be less than or equal to %d", *c.Maximum)
	case *c.Minimum == 1:
		usual = "must be greater than zero"
	default:
		usual = fmt.Sprintf("must be greater than or equal to %d", *c.Minimum)
	}
	return field.ErrorList{field.Invalid(path, x, c.because(usual))}
}

// bounded refuses a number above those beside it.
func (c *checker) bounded(x int64, p place) field.ErrorList {
	if len(c.AtMost) == 0 || len(p.up) == 0 {
		return nil
	}
	var errs field.ErrorList
	beside, _ := p.up[0].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(c.AtMost)) {
		if x > number(beside[name]) {
			errs = append(errs, field.Invalid(p.path, x, c.AtMost[name]))
		}
	}
	return errs
}

// number is a value as a number, 0 for none.
func number(v any) int64 {
	n, _ := v.(int64)
	return n
}

func (c *checker) items(x []any, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c.MaxItems != nil && len(x) > *c.MaxItems {
		errs = append(errs, field.TooMany(path, len(x), *c.MaxItems))
	}
	for _, item := range x {
		if s, ok := item.(string); ok && c.Enum != nil && !slices.Contains(c.Enum, s) {
			errs = append(errs, field.NotSupported(path, s, c.Enum))
		}
	}
	if c.Unique == "" {
		return errs
	}
	seen := map[string]bool{}
	for i, item := range x {
		at := path.Index(i)
		if c.Unique != "." {
			m, _ := item.(map[string]any)
			item, at = m[c.Unique], at.Child(c.Unique)
		}
		s, ok := item.(string)
		switch {
		case !ok || s == "" || !seen[s]:
		case c.Message != "":
			errs = append(errs, field.Invalid(at, s, c.Message))
		default:
			errs = append(errs, field.Duplicate(at, s))
		}
		seen[s] = true
	}
	return errs
}

func (c *checker) members(x map[string]any, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c.keys != nil {
		for _, k := range sortedKeys(x) {
			for _, m := range c.keys(k) {
				errs = append(errs, field.Invalid(path.Key(k), k, m))
			}
		}
	}
	errs = append(errs, oneOf(x, c.one, c.Choice, path, true)...)
	return append(errs, oneOf(x, c.most, c.Choice, path, false)...)
}

// oneOf refuses a second choice, and, if there has to be one, none.
func oneOf(x map[string]any, names []string, what string, path *field.Path, must bool) field.ErrorList {
	if names == nil {
		return nil
	}
	var errs field.ErrorList
	chosen := ""
	for _, name := range names {
		switch {
		case x[name] == nil:
		case chosen == "":
			chosen = name
		default:
			errs = append(errs, field.Forbidden(path.Child(name), "may not specify more than 1 "+strings.TrimSpace(what+" type")))
		}
	}
	switch {
	case chosen != "" || !must:
	case what != "":
		errs = append(errs, field.Required(path, "must specify a "+what+" type"))
	default:
		errs = append(errs, field.Required(path, "must specify one of: "+strings.Join(names, ", ")))
	}
	return errs
}

// unchanged refuses a change outside of the exceptions.
func (c *checker) unchanged(p place) field.ErrorList {
	now, before := p.value, p.old
	if c.except != nil {
		now, before = object.CloneValue(now), object.CloneValue(before)
		for _, path := range c.except {
			remove(now, path)
			remove(before, path)
		}
	}
	switch {
	case reflect.DeepEqual(now, before):
		return nil
	case c.except != nil || c.Message != "":
		return field.ErrorList{field.Forbidden(p.path, c.because("field is immutable"))}
	}
	return field.ErrorList{field.Invalid(p.path, p.value, "field is immutable")}
}
