package draft

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/wasmgate/wasmgate/conversion/rules"
)

// values compares what two scalars may be.
func (w *work) values(at []string, a, b *schema) {
	if ofItsOwn(at, a) && ofItsOwn(at, b) {
		w.remark(at, "it tells the version of an object in this one, which may have to be another one at %s, or goes away where the place tells it", w.to)
	}
	switch {
	case len(b.Enum) > 0 && len(a.Enum) > 0 && a.Type == "string":
		w.enum(at, texts(a), texts(b))
	case len(b.Enum) > 0 && !equalEnums(a, b):
		w.remark(at, "%s takes %s only, and %s takes others, too", w.to, list(texts(b)), w.from)
	case b.Pattern != "" && b.Pattern != a.Pattern:
		w.remark(at, "%s has another pattern, so that some values may not be valid there: %s", w.to, b.Pattern)
	case b.Maximum != nil && (a.Maximum == nil || *a.Maximum > *b.Maximum), b.Minimum != nil && (a.Minimum == nil || *a.Minimum < *b.Minimum),
		b.MaxLength != nil && (a.MaxLength == nil || *a.MaxLength > *b.MaxLength), b.MinLength != nil && (a.MinLength == nil || *a.MinLength < *b.MinLength):
		w.remark(at, "%s takes less of it than %s", w.to, w.from)
	}
	if a.Default != nil && b.Default != nil && string(a.Default.Raw) != string(b.Default.Raw) {
		w.remark(at, "the default was %s and is %s: objects that exist keep theirs, those created at %s without it get the new one", a.Default.Raw, b.Default.Raw, w.to)
	}
}

// ofItsOwn tells whether a field is the apiVersion or the kind of a whole object within the
// object: all such have the same descriptions.
func ofItsOwn(at []string, s *schema) bool {
	if len(at) < 2 || at[len(at)-1] != "apiVersion" && at[len(at)-1] != "kind" {
		return false
	}
	return strings.HasPrefix(s.Description, "APIVersion defines the versioned schema of this representation of an object") || strings.HasPrefix(s.Description, "Kind is a string value representing the REST resource this object represents")
}

// remark adds a remark that somebody has to judge.
func (w *work) remark(at []string, format string, args ...any) {
	w.add(Op{At: path(at), Why: fmt.Sprintf(format, args...)}, nil)
}

func texts(s *schema) (all []string) {
	for _, v := range s.Enum {
		var text string
		if json.Unmarshal(v.Raw, &text) != nil {
			text = string(v.Raw)
		}
		all = append(all, text)
	}
	return all
}

func equalEnums(a, b *schema) bool {
	x, y := texts(a), texts(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

func list(values []string) string {
	if len(values) > 8 {
		values = append(slices.Clone(values[:8]), "...")
	}
	return strings.Join(values, ", ")
}

// spelled is a value but for its case, and for what stands between its words: a-b and A_B
// and aB are one, but -1 and 1 are not, nor are 1-0 and 10.
func spelled(value string) string {
	runes := []rune(strings.ToLower(value))
	var b strings.Builder
	for i, r := range runes {
		if r != '-' && r != '_' && r != ' ' || i == 0 || i == len(runes)-1 {
			b.WriteRune(r)
			continue
		}
		before, after := runes[i-1], runes[i+1]
		switch word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }; {
		case unicode.IsLetter(before) && unicode.IsLetter(after):
		case word(before) && word(after):
			b.WriteByte('-')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// enum maps the values that one version names otherwise. It is certain if each of them
// is exactly one other in another spelling.
func (w *work) enum(at []string, a, b []string) {
	from := slices.DeleteFunc(slices.Clone(a), func(v string) bool { return slices.Contains(b, v) })
	to := slices.DeleteFunc(slices.Clone(b), func(v string) bool { return slices.Contains(a, v) })
	if len(from) == 0 {
		if len(to) > 0 {
			w.remark(at, "%s does not know %s: objects that have one are not valid there", w.from, list(to))
		}
		return
	}
	op := Op{At: path(at), Certain: true}
	values := map[string]string{}
	var without []string
	left := slices.Clone(to)
	for _, v := range from {
		best, score := -1, 0.0
		for i, other := range left {
			if s := similar(tokens(v), tokens(other)); s > score && len(tokens(v)) > 0 { // signs are alike in nothing
				best, score = i, s
			}
		}
		if score < 0.5 {
			without = append(without, v)
			continue
		}
		op.Certain = op.Certain && spelled(v) == spelled(left[best])
		values[v] = left[best]
		left = slices.Delete(left, best, best+1)
	}
	for _, v := range without {
		if len(without) == 1 && len(left) == 1 { // what is left on both sides
			values[v], left, without, op.Certain = left[0], nil, nil, false
		}
	}
	op.Why = fmt.Sprintf("%s has other names for values", w.to)
	if len(without) > 0 || len(left) > 0 {
		op.Certain = false
		op.Why += fmt.Sprintf("; without a counterpart: %s", list(append(without, left...)))
	}
	if len(values) > 0 {
		op.Map = &rules.Map{Field: path(at), Values: values}
	}
	w.add(op, nil)
}

// zero is a value that a schema takes, "" for none that is known.
func zero(s *schema) string {
	switch {
	case len(s.Enum) > 0:
		return string(s.Enum[0].Raw)
	case s.Pattern != "" || s.Format != "":
		if s.Type == "string" {
			return ""
		}
	}
	switch kind(s) {
	case "integer", "number":
		return number(s)
	case "boolean":
		return "false"
	case "string":
		if s.MinLength != nil && *s.MinLength > 0 {
			return `"` + strings.Repeat("x", int(min(*s.MinLength, 64))) + `"`
		}
		return `""`
	case "array":
		if s.MinItems == nil || *s.MinItems == 0 {
			return "[]"
		}
	case "object":
		if len(s.Required) == 0 {
			return "{}"
		}
	}
	return ""
}

// number is the number nearest to zero that a schema takes, "" if that is none of its bounds.
func number(s *schema) string {
	low, high := math.Inf(-1), math.Inf(1)
	if s.Minimum != nil {
		low = *s.Minimum
	}
	if s.Maximum != nil {
		high = *s.Maximum
	}
	n := max(low, min(high, 0))
	if kind(s) == "integer" {
		n = max(math.Ceil(low), min(math.Floor(high), 0))
	}
	if n > high || s.ExclusiveMinimum && n == low || s.ExclusiveMaximum && n == high || s.MultipleOf != nil && math.Mod(n, *s.MultipleOf) != 0 {
		return ""
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}
