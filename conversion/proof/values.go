package proof

import (
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wasmgate/wasmgate/crd/object"
)

// maxText is the length of the longest text that is tried.
const maxText = 1024

// byFormat are texts of the formats that definitions use, a common one first.
var byFormat = map[string][]any{
	"date-time":    {"2020-01-02T03:04:05Z", "2020-01-02T03:04:05.123456789Z", "1999-12-31T23:59:59+05:30", "0001-01-01T00:00:00Z"},
	"date":         {"2020-01-02", "2020-02-29"},
	"duration":     {"1h30m0s", "90m", "0s", "1.5s", "720h0m0s"},
	"byte":         {"aGVsbG8=", "", "/+8="},
	"uuid":         {"7f2b1c1e-5c3a-4f60-9d0e-1b2c3d4e5f60"},
	"uuid3":        {"6fa459ea-ee8a-3ca4-894e-db77e160355e"},
	"uuid4":        {"16fd2706-8baf-433b-82eb-8c7fada847da"},
	"uuid5":        {"886313e1-3b8a-5372-9b90-0c9aee199e5d"},
	"ipv4":         {"10.0.0.1", "0.0.0.0", "255.255.255.255"},
	"ipv6":         {"2001:db8::1", "::", "2001:0db8:0000:0000:0000:0000:0000:0001"},
	"cidr":         {"10.0.0.0/8", "2001:db8::/32"},
	"email":        {"a@example.com"},
	"hostname":     {"a.example.com", "localhost"},
	"uri":          {"https://example.com/a?b=c%20d#e", "http://localhost:8080/"},
	"mac":          {"01:23:45:67:89:ab"},
	"password":     {"a"},
	"isbn":         {"0-306-40615-2"},
	"isbn10":       {"0-306-40615-2"},
	"isbn13":       {"978-0-306-40615-7"},
	"creditcard":   {"4111111111111111"},
	"ssn":          {"123-45-6789"},
	"hexcolor":     {"#ff00aa"},
	"rgbcolor":     {"rgb(1,2,3)"},
	"bsonobjectid": {"507f1f77bcf86cd799439011"},
}

// oddTexts are what nobody thinks of, after what everybody does.
var oddTexts = []any{"a", "", "b", "two words", "é世界\U0001f600", `"quoted" \ <&>`, "007", "1.50", "true", "null", " spaced ", "line\nbreak", "a:1", ":", "a,b", "a=b", "-"}

// scalars are the values to try for a schema that is neither an object's nor a
// list's, a common one first. Not all of them need satisfy it.
func scalars(s *schema, random *rand.Rand) []any {
	var all []any
	switch {
	case s.Enum != nil:
		for _, e := range s.Enum {
			if v, ok := parsed(e); ok {
				all = append(all, v)
			}
		}
	case s.XIntOrString:
		all = []any{int64(1), "1", "50%", int64(0), "a", "", int64(math.MaxInt32)}
	case s.Type == "boolean":
		all = []any{true, false}
	case s.Type == "integer":
		all = integers(s)
	case s.Type == "number":
		all = numbers(s)
	case s.Type == "string":
		all = texts(s, random)
	default: // anything goes
		all = []any{map[string]any{"a": int64(1)}, "text", int64(1), true, []any{int64(1), "b"}, map[string]any{}}
	}
	if s.Nullable {
		all = append(all, nil)
	}
	return fitting(s, all)
}

// fitting are the values that fit a schema.
func fitting(s *schema, all []any) []any {
	var pattern *regexp.Regexp
	if s.Pattern != "" {
		pattern, _ = regexp.Compile(s.Pattern) // one that is wrong accepts nothing, which validation says
	}
	return slices.DeleteFunc(all, func(v any) bool { return !fits(s, pattern, v) })
}

func parsed(raw apiextensionsv1.JSON) (any, bool) {
	tree, _, err := object.Parse([]byte(`{"v":` + string(raw.Raw) + `}`))
	return tree["v"], err == nil
}

func integers(s *schema) []any {
	all := []any{int64(1), int64(0), int64(2), int64(-1), int64(7), int64(math.MaxInt32), int64(math.MinInt32)}
	if s.Format != "int32" {
		all = append(all, int64(1)<<53+1, int64(math.MaxInt64), int64(math.MinInt64))
	}
	for _, bound := range []*float64{s.Minimum, s.Maximum, s.MultipleOf} {
		if bound != nil && math.Abs(*bound) < 1<<53 {
			n := int64(*bound)
			all = append(all, n, n+1, n-1, 2*n)
		}
	}
	return all
}

func numbers(s *schema) []any {
	all := []any{1.5, int64(1), int64(0), -0.25, 0.1, 123456789.125, 1e21, 1e-7}
	for _, bound := range []*float64{s.Minimum, s.Maximum, s.MultipleOf} {
		if bound != nil {
			all = append(all, *bound, *bound+1, *bound-1, 2**bound, *bound+0.5)
		}
	}
	return all
}

func texts(s *schema, random *rand.Rand) []any {
	if all, ok := byFormat[s.Format]; ok && s.Pattern == "" {
		return slices.Clone(all)
	}
	var all []any
	if s.Pattern != "" {
		for range 8 {
			if text, ok := matching(s.Pattern, random); ok && !slices.Contains(all, any(text)) {
				all = append(all, text)
			}
		}
	}
	all = append(append(all, byFormat[s.Format]...), oddTexts...)
	longest := maxText
	if s.MaxLength != nil {
		longest = int(min(max(*s.MaxLength, 0), maxText))
	}
	all = append(all, strings.Repeat("x", longest))
	if s.MinLength != nil && *s.MinLength <= maxText {
		for i, v := range all { // texts that are too short get longer
			if lacks := int(*s.MinLength) - utf8.RuneCountInString(v.(string)); lacks > 0 && v != "" {
				all[i] = v.(string) + strings.Repeat("z", lacks)
			}
		}
	}
	return all
}

// takes tells that a field may have any value of the kind of a text or a number, this
// one among them.
func takes(s *schema, v any) bool {
	if _, isText := v.(string); !s.XIntOrString && (isText != (s.Type == "string") || !isText && s.Type != "integer" && s.Type != "number") {
		return false
	}
	return s.Enum == nil && byFormat[s.Format] == nil && len(fitting(s, []any{v})) > 0
}

// fits tells that a value keeps what a schema says of it alone, as far as that is
// looked at here: the product's own validation has the last word.
func fits(s *schema, pattern *regexp.Regexp, v any) bool {
	switch v := v.(type) {
	case string:
		n := int64(utf8.RuneCountInString(v))
		if s.MinLength != nil && n < *s.MinLength || s.MaxLength != nil && n > *s.MaxLength {
			return false
		}
		return pattern == nil || pattern.MatchString(v)
	case int64:
		return within(s, float64(v))
	case float64:
		return within(s, v)
	}
	return true
}

func within(s *schema, v float64) bool {
	if s.Minimum != nil && (v < *s.Minimum || s.ExclusiveMinimum && v == *s.Minimum) ||
		s.Maximum != nil && (v > *s.Maximum || s.ExclusiveMaximum && v == *s.Maximum) {
		return false
	}
	return s.MultipleOf == nil || math.Mod(v, *s.MultipleOf) == 0
}
