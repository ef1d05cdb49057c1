package accept

import (
	"math"
	"regexp"
	"unicode/utf8"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// Rule is a schema compiled to accept valid values quickly. It knows the parts
// of JSON schema that nearly every definition is made of; of anything else it
// is unsure. What it accepts is valid; what it does not accept may be valid as
// well, so it never has to say why.
type Rule struct {
	unsure bool

	types    kinds // none: any
	nullable bool
	enum     map[string]bool // strings only

	// Strings.
	minLength, maxLength *int64
	pattern              *regexp.Regexp
	format               string
	// Numbers.
	int32            bool
	minimum, maximum *float64
	exclusiveMin     bool
	exclusiveMax     bool
	// Objects.
	required             []string
	props                map[string]*Rule
	extra                *Rule // what other fields have to be; nil: anything
	closed               bool  // there may be no other fields
	minFields, maxFields *int64
	// Arrays.
	items              *Rule
	minItems, maxItems *int64

	allOf, anyOf []*Rule
}

// kinds is a set of JSON types.
type kinds uint8

const (
	kindString kinds = 1 << iota
	kindInteger
	kindNumber
	kindBoolean
	kindArray
	kindObject
)

var kindNames = map[string]kinds{
	"string": kindString, "integer": kindInteger, "number": kindNumber,
	"boolean": kindBoolean, "array": kindArray, "object": kindObject,
}

// NewRule compiles s, which must be the schema that the library validates
// against.
func NewRule(s *spec.Schema) *Rule {
	r := &Rule{
		nullable:  s.Nullable,
		minLength: s.MinLength, maxLength: s.MaxLength,
		minimum: s.Minimum, maximum: s.Maximum,
		exclusiveMin: s.ExclusiveMinimum, exclusiveMax: s.ExclusiveMaximum,
		required:  s.Required,
		minFields: s.MinProperties, maxFields: s.MaxProperties,
		minItems: s.MinItems, maxItems: s.MaxItems,
	}
	r.unsure = len(s.OneOf) > 0 || s.Not != nil || len(s.Dependencies) > 0 || len(s.PatternProperties) > 0 ||
		s.AdditionalItems != nil || s.UniqueItems || s.MultipleOf != nil || s.Ref.String() != "" ||
		!safeBound(s.Minimum) || !safeBound(s.Maximum)
	for _, name := range s.Type {
		k, ok := kindNames[name]
		r.types |= k
		r.unsure = r.unsure || !ok
	}
	r.compileText(s)
	r.compileParts(s)
	return r
}

// safeBound tells whether a bound means the same whatever numbers it is
// compared with.
func safeBound(b *float64) bool {
	return b == nil || *b == math.Trunc(*b) && math.Abs(*b) <= math.MaxInt32
}

func (r *Rule) compileText(s *spec.Schema) {
	if s.Pattern != "" {
		var err error
		if r.pattern, err = regexp.Compile(s.Pattern); err != nil {
			r.unsure = true
		}
	}
	switch {
	case s.Format == "" || s.Format == "int64" && r.types == kindInteger:
	case s.Format == "int32" && r.types == kindInteger:
		r.int32 = true
	case r.types == kindString && strfmt.Default.ContainsName(s.Format):
		r.format = s.Format
	default:
		r.unsure = true
	}
	for _, e := range s.Enum {
		v, ok := e.(string)
		if !ok {
			r.unsure = true
			return
		}
		if r.enum == nil {
			r.enum = make(map[string]bool, len(s.Enum))
		}
		r.enum[v] = true
	}
}

func (r *Rule) compileParts(s *spec.Schema) {
	if len(s.Properties) > 0 {
		r.props = make(map[string]*Rule, len(s.Properties))
	}
	for name := range s.Properties {
		p := s.Properties[name]
		r.props[name] = NewRule(&p)
	}
	if a := s.AdditionalProperties; a != nil {
		r.closed = !a.Allows
		if a.Schema != nil {
			r.extra = NewRule(a.Schema)
		}
	}
	if s.Items != nil {
		r.unsure = r.unsure || len(s.Items.Schemas) > 0
		if s.Items.Schema != nil {
			r.items = NewRule(s.Items.Schema)
		}
	}
	for i := range s.AllOf {
		r.allOf = append(r.allOf, NewRule(&s.AllOf[i]))
	}
	for i := range s.AnyOf {
		r.anyOf = append(r.anyOf, NewRule(&s.AnyOf[i]))
	}
}

// Accepts reports that v is valid; false means that the library has to say.
func (r *Rule) Accepts(v any) bool {
	if r.unsure {
		return false
	}
	if v == nil {
		return (r.types == 0 || r.nullable) && r.enum == nil
	}
	ok := false
	switch x := v.(type) {
	case string:
		ok = r.hasType(kindString) && r.acceptsString(x)
	case int64:
		ok = r.hasType(kindInteger|kindNumber) && r.enum == nil && r.acceptsInteger(x)
	case float64:
		ok = r.hasType(kindNumber) && r.enum == nil && r.acceptsFloat(x)
	case bool:
		ok = r.hasType(kindBoolean) && r.enum == nil
	case []any:
		ok = r.hasType(kindArray) && r.enum == nil && r.acceptsArray(x)
	case map[string]any:
		ok = r.hasType(kindObject) && r.enum == nil && r.acceptsObject(x)
	}
	return ok && r.acceptsParts(v)
}

func (r *Rule) hasType(k kinds) bool { return r.types == 0 || r.types&k != 0 }

func (r *Rule) acceptsParts(v any) bool {
	for _, part := range r.allOf {
		if !part.Accepts(v) {
			return false
		}
	}
	for _, part := range r.anyOf {
		if part.Accepts(v) {
			return true
		}
	}
	return len(r.anyOf) == 0
}

func (r *Rule) acceptsString(s string) bool {
	if r.enum != nil && !r.enum[s] {
		return false
	}
	if r.minLength != nil || r.maxLength != nil {
		if !within(int64(utf8.RuneCountInString(s)), r.minLength, r.maxLength) {
			return false
		}
	}
	if r.pattern != nil && !r.pattern.MatchString(s) {
		return false
	}
	return r.format == "" || strfmt.Default.Validates(r.format, s)
}

func (r *Rule) acceptsInteger(n int64) bool {
	if r.int32 && (n < math.MinInt32 || n > math.MaxInt32) {
		return false
	}
	if lo := r.minimum; lo != nil && (n < int64(*lo) || r.exclusiveMin && n == int64(*lo)) {
		return false
	}
	if hi := r.maximum; hi != nil && (n > int64(*hi) || r.exclusiveMax && n == int64(*hi)) {
		return false
	}
	return true
}

func (r *Rule) acceptsFloat(f float64) bool {
	if lo := r.minimum; lo != nil && (f < *lo || r.exclusiveMin && f == *lo) {
		return false
	}
	if hi := r.maximum; hi != nil && (f > *hi || r.exclusiveMax && f == *hi) {
		return false
	}
	return true
}

func (r *Rule) acceptsArray(a []any) bool {
	if !within(int64(len(a)), r.minItems, r.maxItems) {
		return false
	}
	if r.items != nil {
		for _, v := range a {
			if !r.items.Accepts(v) {
				return false
			}
		}
	}
	return true
}

func (r *Rule) acceptsObject(m map[string]any) bool {
	if !within(int64(len(m)), r.minFields, r.maxFields) {
		return false
	}
	for _, name := range r.required {
		if _, ok := m[name]; !ok {
			return false
		}
	}
	for k, v := range m {
		part, ok := r.props[k]
		if !ok {
			if r.closed {
				return false
			}
			part = r.extra
		}
		if part != nil && !part.Accepts(v) {
			return false
		}
	}
	return true
}

func within(n int64, lo, hi *int64) bool {
	return (lo == nil || n >= *lo) && (hi == nil || n <= *hi)
}
