package proof

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wasmgate/wasmgate/crd/object"
)

// The bounds of a text that stands for another.
const (
	maxDisguise = 64
	tries       = 64
)

// text is what stands for a text, everywhere the same where schemas let it.
func (r *Recorder) text(was string, s *schema) string {
	if was == "" {
		return was
	}
	var pattern *regexp.Regexp
	if s != nil && s.Pattern != "" {
		pattern, _ = regexp.Compile(s.Pattern) // one that is wrong accepts nothing, which validation says
	}
	fit := func(text string) bool { return s == nil || fits(s, pattern, text) && ofFormat(s, text) }
	if known, ok := r.texts[was]; ok && fit(known) {
		return known
	}
	for try := range tries {
		text := r.candidate(was, s, try)
		if !fit(text) || r.taken[text] && !(s != nil && s.Format != "" && text != was) {
			continue
		}
		if _, known := r.texts[was]; !known {
			r.texts[was] = text
		}
		r.taken[text] = true
		return text
	}
	return "" // validation says whether it may be that
}

// candidate is a text that may stand for another: of the same shape, or else as the
// schema has it.
func (r *Recorder) candidate(was string, s *schema, try int) string {
	if s != nil {
		if all := byFormat[s.Format]; len(all) > 0 && s.Pattern == "" {
			all = slices.DeleteFunc(slices.Clone(all), func(v any) bool { return v == any(was) })
			if len(all) > 0 {
				return all[try%len(all)].(string)
			}
		}
		if s.Pattern != "" && try >= tries/4 {
			if text, ok := matching(s.Pattern, r.random); ok {
				return text
			}
		}
	}
	if try >= tries/2 { // there are not enough of its length
		was += strings.Repeat("x", 1+try%8)
	}
	return r.shaped(was)
}

// ofFormat tells whether a text may have a format, as far as there are texts of it.
func ofFormat(s *schema, text string) bool {
	all := byFormat[s.Format]
	return len(all) == 0 || s.Pattern != "" || slices.Contains(all, any(text))
}

// kept are parts of texts that say of what kind they are: the scheme of a URL, and the
// units of quantities and durations behind digits.
var (
	scheme = regexp.MustCompile(`^(?:https?|wss?|grpcs?|tcp|udp|oci|s3|gs|git|ssh|file|unix)://`)
	amount = regexp.MustCompile(`^[+-]?(?:[0-9]+(?:\.[0-9]+)?(?:[numkMGTPE]|[KMGTPE]i|ns|us|ms|s|m|h|d|%)?)+$`)
)

// shaped is a text with other letters and digits in the places of these.
func (r *Recorder) shaped(was string) string {
	switch was {
	case "true":
		return "false"
	case "false":
		return "true"
	}
	prefix := scheme.FindString(was)
	was = was[len(prefix):]
	units := prefix == "" && amount.MatchString(was)
	var b strings.Builder
	b.WriteString(prefix)
	n := 0
	for i, c := range was {
		if n++; n > maxDisguise { // names do not end with a mark
			return strings.TrimRight(b.String(), "-._/")
		}
		switch {
		case c >= '0' && c <= '9':
			first := i == 0 || was[i-1] < '0' || was[i-1] > '9'
			b.WriteByte(r.digit(first && i+1 < len(was) && was[i+1] >= '0' && was[i+1] <= '9'))
		case units:
			b.WriteRune(c)
		case c >= 'a' && c <= 'z':
			b.WriteByte(byte('a' + r.random.IntN(26)))
		case c >= 'A' && c <= 'Z':
			b.WriteByte(byte('A' + r.random.IntN(26)))
		case c < utf8.RuneSelf:
			b.WriteRune(c)
		case unicode.IsLetter(c):
			b.WriteRune([]rune("éüñ世界")[r.random.IntN(5)])
		default:
			b.WriteRune('·')
		}
	}
	return b.String()
}

// digit is one, and none that nobody begins a number with.
func (r *Recorder) digit(first bool) byte {
	if first {
		return byte('1' + r.random.IntN(9))
	}
	return byte('0' + r.random.IntN(10))
}

// integer is another number with as many digits, if the schema has any.
func (r *Recorder) integer(was int64, s *schema) any {
	digits := len(strconv.FormatInt(was, 10))
	if was < 0 {
		digits--
	}
	for try := range tries {
		low, high := math.Pow10(digits-1), math.Pow10(digits)-1
		if digits == 1 {
			low = 0
		}
		if try >= tries/2 && s != nil { // there are none
			low, high = around(s, low, high)
		}
		if s != nil && s.Format == "int32" {
			high = max(low, min(high, math.MaxInt32))
		}
		n := int64(low) + r.random.Int64N(max(1, int64(min(high-low, 1<<53))+1))
		if was < 0 && try < tries/2 {
			n = -n
		}
		if s != nil && s.MultipleOf != nil && *s.MultipleOf >= 1 && *s.MultipleOf < 1<<53 {
			n -= n % int64(*s.MultipleOf)
		}
		if n != was && (s == nil || fits(s, nil, n)) {
			return n
		}
	}
	return r.other(was, s)
}

// other is any other number that a schema takes, or one that validation refuses.
func (r *Recorder) other(was any, s *schema) any {
	if s != nil {
		for _, v := range scalars(s, r.random) {
			if v != nil && !object.Equal(v, was) {
				return v
			}
		}
		if s.Minimum != nil && s.Maximum != nil && *s.Minimum == *s.Maximum {
			return was // the schema names it
		}
	}
	if object.Equal(was, int64(0)) {
		return int64(1)
	}
	return int64(0)
}

// around are the bounds of a schema.
func around(s *schema, low, high float64) (float64, float64) {
	if s.Minimum != nil {
		low = *s.Minimum
		high = max(high, low+100)
	}
	if s.Maximum != nil {
		high = *s.Maximum
		low = min(low, high)
	}
	return math.Max(low, -1<<53), math.Min(high, 1<<53)
}

// number is another number of about the size.
func (r *Recorder) number(was float64, s *schema) any {
	for range tries {
		n := math.Round(was*(0.5+r.random.Float64())*100) / 100
		if was == 0 {
			n = math.Round(r.random.Float64()*100) / 100
		}
		if n != was && !math.IsInf(n, 0) && (s == nil || fits(s, nil, n)) {
			return n
		}
	}
	return r.other(was, s)
}

// document tells whether a text is a document of its own, with values that are not
// looked at.
func document(text string) bool {
	b := bytes.TrimSpace([]byte(text))
	return len(b) > 0 && (b[0] == '{' || b[0] == '[') && json.Valid(b)
}
