package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/cel/dyn"
	"github.com/wasmgate/wasmgate/crd/schema"
)

type rule struct {
	Rule
	condition *dyn.Expression
	message   *dyn.Expression
	// across is where the items are that are compared, nil for those of one list.
	across *spot
	// among and not are where a text is, or is not, of which it is asked.
	among, not []spot
	// change: the rule is about the state before.
	change bool
	// none is shown in place of a field that is not there.
	none any
}

// newRule is a rule about values of a type.
func newRule(r Rule, t reflect.Type) (rule, error) {
	made := rule{Rule: r, condition: dyn.New(cmp.Or(r.Rule, "false")), change: strings.Contains(r.Rule, "oldSelf") && !r.OptionalOldSelf, none: zero(t, cmp.Or(r.Shows, r.FieldPath))}
	if r.Across != "" {
		where, err := newSpot(r.Across)
		if err != nil {
			return rule{}, err
		}
		made.across = &where
	}
	var err error
	if made.among, err = spots(r.Among); err != nil {
		return rule{}, err
	}
	if made.not, err = spots(r.NotAmong); err != nil {
		return rule{}, err
	}
	if r.MessageExpression != "" {
		made.message = dyn.New(r.MessageExpression)
	}
	return made, nil
}

// ask returns what is wrong, if the condition is not met. A value for which the
// condition cannot be evaluated does not meet it.
func (r *rule) ask(p place) *field.Error {
	if p.value == nil || r.change && p.old == nil || !concerns(r.If, p.value) || !r.compared(p).alike(p.value, r.Alike) || !r.placed(p) {
		return nil
	}
	vars := dyn.Variables{Self: p.value, Old: p.old, Key: p.key, Up: p.up, Within: p.asking}
	path := p.path
	if r.FieldPath != "" {
		path = below(path, r.FieldPath)
	}
	if path == nil {
		path = field.NewPath("") // as Kubernetes names the whole object
	}
	if p.asking.over() {
		return p.asking.say(path)
	}
	ok, err := r.condition.True(vars)
	switch {
	case err != nil && p.asking.over():
		return p.asking.say(path)
	case err != nil:
		return field.Invalid(path, shown(p.value), err.Error())
	case ok:
		return nil
	}
	message := r.Message
	if r.message != nil {
		if text, err := r.message.Eval(vars); err == nil {
			message, _ = text.(string)
		}
	}
	if message == "" && r.Reason != "Required" { // of what is missing there is nothing else to say
		message = "failed rule: " + r.Rule.Rule
	}
	value := valueAt(p.value, cmp.Or(r.Shows, r.FieldPath))
	if text, ok := p.value.(string); ok { // some paths of kube-apiserver's lead below a text
		value = text
	}
	if value == nil {
		value = r.none
	}
	if r.ShowKey {
		value = p.key
	}
	return r.refusal(path, value, message)
}

// below is the place that a path leads to from another.
func below(at *field.Path, path string) *field.Path {
	for name := range parts(path) {
		if key, ok := keyOf(name); ok {
			at = at.Key(key)
			continue
		}
		name, index, indexed := item(name)
		if at = at.Child(name); indexed {
			at = at.Index(index)
		}
	}
	return at
}

// compared are the items among which an item may be like another.
func (r *rule) compared(p place) *items {
	if r.across == nil {
		return p.beside
	}
	return p.asking.items(*r.across, p.up)
}

// placed tells whether a text is where those are of which the rule is asked.
func (r *rule) placed(p place) bool {
	if r.among == nil && r.not == nil {
		return true
	}
	s, ok := p.value.(string)
	return ok && (r.among == nil || p.asking.among(r.among, p.up, s)) && (r.not == nil || !p.asking.among(r.not, p.up, s))
}

// concerns tells whether a value has the field, or the field with the text, that
// is named; each has what has no name.
func concerns(named string, v any) bool {
	if named == "" {
		return true
	}
	if without, ok := strings.CutPrefix(named, "!"); ok {
		return valueAt(v, without) == nil
	}
	name, want, exact := strings.Cut(named, "=")
	have := valueAt(v, name)
	return have != nil && (!exact || fmt.Sprint(have) == want)
}

func (r *rule) refusal(path *field.Path, value any, message string) *field.Error {
	switch r.Reason {
	case "Forbidden":
		return field.Forbidden(path, message)
	case "Required":
		return field.Required(path, strings.TrimSpace(message))
	case "NotFound":
		return field.NotFound(path, shown(value))
	case "Duplicate":
		return field.Duplicate(path, shown(value))
	case "TooLong":
		return &field.Error{Type: field.ErrorTypeTooLong, Field: path.String(), BadValue: "", Detail: message}
	case "NotSupported":
		return &field.Error{Type: field.ErrorTypeNotSupported, Field: path.String(), BadValue: shown(value), Detail: message}
	}
	return field.Invalid(path, shown(value), message)
}

// valueAt is the value below v that a rule names.
func valueAt(v any, path string) any {
	if path == "" {
		return v
	}
	for name := range parts(path) {
		m, _ := v.(map[string]any)
		if key, ok := keyOf(name); ok {
			v = m[key]
			continue
		}
		name, index, indexed := item(name)
		v = m[name]
		if list, _ := v.([]any); indexed && index < len(list) {
			v = list[index]
		}
	}
	return v
}

// parts are the names of a path, which dots divide that are not in the key of a map.
func parts(path string) iter.Seq[string] {
	key := false
	return strings.FieldsFuncSeq(path, func(r rune) bool {
		key = r == '[' || key && r != ']'
		return r == '.' && !key
	})
}

// keyOf takes the key from what leads to an entry of a map, as "[cpu]".
func keyOf(name string) (key string, ok bool) {
	if !strings.HasPrefix(name, "[") {
		return "", false
	}
	return strings.TrimSuffix(name[1:], "]"), true
}

// item takes the index from a name that ends with one.
func item(name string) (bare string, index int, ok bool) {
	bare, number, found := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	if !found || bare == "" {
		return name, 0, false
	}
	index, err := strconv.Atoi(number)
	if err != nil {
		return name, 0, false
	}
	return bare, index, true
}

// zero is the text or the number that a field below type t is when nothing is
// said of it.
func zero(t reflect.Type, path string) any {
	for name := range parts(path) {
		t = indirect(t)
		if _, ok := keyOf(name); ok && t.Kind() == reflect.Map {
			t = t.Elem()
			continue
		}
		if t.Kind() != reflect.Struct || schema.Leaf(t) {
			return nil
		}
		fields := schema.Fields(t)
		i := slices.IndexFunc(fields, func(f schema.Field) bool { return f.Name == name })
		if i < 0 {
			return nil
		}
		t = fields[i].Type
	}
	switch t.Kind() {
	case reflect.String, reflect.Int32, reflect.Int64:
		return reflect.Zero(t).Interface()
	}
	return nil
}

// mostShown bounds what messages show of a value, in bytes of its JSON.
const mostShown = 200

// shown is a value as messages show it: what is large is left out.
func shown(v any) any {
	switch v.(type) {
	case map[string]any, []any:
	default:
		return v
	}
	if text, err := json.Marshal(v); err != nil || len(text) > mostShown {
		return field.OmitValueType{}
	}
	return v
}
