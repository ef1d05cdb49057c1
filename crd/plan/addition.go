package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Addition is what is said of the values at one place, in addition to their Go
// type.
type Addition struct {
	// Default is the value of a field that is missing.
	Default any `json:"default,omitempty"`
	// DefaultFrom is a CEL expression for the default; self is the object that
	// lacks the field, up the ones around it. Null means no default.
	DefaultFrom string `json:"defaultFrom,omitempty"`
	// Compute is a CEL expression for the value of a field, whatever it was
	// before: null takes the field away, optional.none() leaves it alone.
	Compute string `json:"compute,omitempty"`

	// Required refuses an object that lacks the field, or has it empty; Missing
	// is what is said then.
	Required bool   `json:"required,omitempty"`
	Missing  string `json:"missing,omitempty"`
	// Enum are all valid values of a string, or of the items of a list.
	Enum []string `json:"enum,omitempty"`
	// Format names a check of the value (see package formats).
	Format string `json:"format,omitempty"`
	// Judged is when something is said of the value and of what is below it: always, of
	// what is Changed only, or of New objects only.
	Judged Judged `json:"judged,omitempty"`
	// Keys names a format that every key of a map has.
	Keys string `json:"keys,omitempty"`
	// Pattern is a regular expression for a string.
	Pattern string `json:"pattern,omitempty"`
	// Minimum and Maximum bound a number.
	Minimum *int64 `json:"minimum,omitempty"`
	Maximum *int64 `json:"maximum,omitempty"`
	// AtMost are fields beside a number that it is not above, each with what is
	// said then. One that is missing is 0.
	AtMost map[string]string `json:"atMost,omitempty"`
	// Grows says what is wrong with a number that is less than before; one that is
	// missing is 0.
	Grows string `json:"grows,omitempty"`
	// MaxLength bounds a string, in bytes; MaxItems a list.
	MaxLength *int `json:"maxLength,omitempty"`
	MaxItems  *int `json:"maxItems,omitempty"`
	// Unique names the field that no two items of a list share; "." for items
	// that are equal themselves. Message replaces the usual one.
	Unique string `json:"unique,omitempty"`
	// OneOf are the fields of an object of which exactly one is set; "*" stands
	// for all that the Go type has. AtMostOneOf allows none.
	// Choice is what messages call them, as "volume".
	OneOf       []string `json:"oneOf,omitempty"`
	AtMostOneOf []string `json:"atMostOneOf,omitempty"`
	Choice      string   `json:"choice,omitempty"`

	// Among are the places whose texts a text has to be one of: the number of an
	// object around it, from 0 for the nearest, and a path from there, as
	// 2.volumes[].name.
	Among []string `json:"among,omitempty"`
	// NotAmong are the places whose texts a text is not one of; a plan whose objects
	// around end before finds nothing there.
	NotAmong []string `json:"notAmong,omitempty"`

	// Immutable refuses another value than the one that was there, except at
	// the paths in Except. Message replaces the usual one. Where there was none there
	// can be none, if it is not Settable.
	Immutable bool     `json:"immutable,omitempty"`
	Settable  bool     `json:"settable,omitempty"`
	Except    []string `json:"except,omitempty"`
	Message   string   `json:"message,omitempty"`

	// Gated drops the field, which is behind a gate that is off, unless the object
	// had it somewhere before.
	Gated bool `json:"gated,omitempty"`
	// GoesEmpty drops the object, too, of which gated fields were all that there was.
	GoesEmpty bool `json:"goesEmpty,omitempty"`

	// When names a field beside this one, with "=" and a text: where it is not
	// printed as that, nothing is judged of this one, nor below it. After "!" it is one
	// with which nothing is judged.
	When string `json:"when,omitempty"`

	// Rules are conditions in CEL.
	Rules []Rule `json:"rules,omitempty"`
}

// Judged is of which values something is said, where kube-apiserver once took what it
// refuses now.
type Judged string

const (
	// Changed values are judged: one that is what it was before may be wrong.
	Changed Judged = "changed"
	// New is of objects that are created: what an update makes of the value is refused
	// elsewhere, as that of something immutable.
	New Judged = "new"
)

// Rule is a condition that a value has to meet, in the form of
// x-kubernetes-validations.
type Rule struct {
	// Rule is the CEL expression. One that speaks of oldSelf is asked on
	// updates only.
	Rule string `json:"rule"`
	// If names a field: of an object that lacks it the rule is not asked. With
	// "=" and a text it is asked only where the field is printed as that.
	If string `json:"if,omitempty"`
	// Message says what is wrong.
	Message string `json:"message,omitempty"`
	// Alike names fields of an item of a list: the rule is asked only of items that have
	// all of them alike, or lack them alike, with one before. Without an expression it
	// refuses these.
	Alike []string `json:"alike,omitempty"`
	// Across is where the items are that Alike compares, as the places in Among; without
	// it these are those of the item's own list.
	Across string `json:"across,omitempty"`
	// Among are places as Addition has them: the rule is asked only of a text that is at one
	// of them, of NotAmong only of one that is at none. Items of lists may be told by what they
	// lack, as 2.volumes[!ephemeral !csi].name.
	Among    []string `json:"among,omitempty"`
	NotAmong []string `json:"notAmong,omitempty"`
	// MessageExpression gives the message in CEL.
	MessageExpression string `json:"messageExpression,omitempty"`
	// Reason is Invalid (the default), Forbidden, Required, NotFound, NotSupported,
	// Duplicate or TooLong.
	Reason string `json:"reason,omitempty"`
	// FieldPath is the field below that the refusal names, as "spec.type",
	// "requests.[cpu]" for an entry of a map, whose key may have dots, or "podIPs[0].ip" for an item of a
	// list.
	FieldPath string `json:"fieldPath,omitempty"`
	// Shows is the field below whose value the refusal shows, where FieldPath is
	// kube-apiserver's name for it and no path.
	Shows string `json:"shows,omitempty"`
	// OptionalOldSelf asks a rule that speaks of oldSelf about new values, too:
	// it is null then.
	OptionalOldSelf bool `json:"optionalOldSelf,omitempty"`
	// ShowKey makes the refusal of a map's value show its key, which is what is
	// wrong then.
	ShowKey bool `json:"showKey,omitempty"`
}

// over is base with what a says in place of what base says.
func (a *Addition) over(base *Addition) *Addition {
	switch {
	case a == nil:
		return base
	case base == nil:
		return a
	}
	out := *base
	from, into := reflect.ValueOf(a).Elem(), reflect.ValueOf(&out).Elem()
	for i := range from.NumField() {
		if !from.Field(i).IsZero() {
			into.Field(i).Set(from.Field(i))
		}
	}
	out.Rules = slices.Concat(base.Rules, a.Rules)
	return &out
}

// Additions are by path: field names with dots between, [] for the items of a
// list, {} for the values of a map, "" for the value itself. An example is
// spec.containers[].env[].name.
type Additions map[string]*Addition

// steps cuts a path.
func steps(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	var out []string
	for _, part := range strings.Split(path, ".") {
		name, elements := part, []string(nil)
		for {
			at := strings.LastIndexAny(name, "[{")
			if at < 0 || !isElement(name[at:]) && lacking(name[at:]) == nil {
				break
			}
			name, elements = name[:at], append(elements, name[at:])
		}
		if name == "" {
			return nil, fmt.Errorf("path %q has an empty part", path)
		}
		slices.Reverse(elements)
		out = append(append(out, name), elements...)
	}
	return out, nil
}

// lacking are the fields that items of a list lack to which a step leads, as [!a !b].
func lacking(step string) []string {
	if !strings.HasPrefix(step, "[!") || !strings.HasSuffix(step, "]") {
		return nil
	}
	names := strings.Fields(step[1 : len(step)-1])
	for i, name := range names {
		if names[i] = strings.TrimPrefix(name, "!"); len(names[i]) != len(name)-1 || names[i] == "" {
			return nil
		}
	}
	return names
}

// isElement tells a step from a list or map to what is in it.
func isElement(step string) bool { return step == "[]" || step == "{}" }
