package object

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	kjson "sigs.k8s.io/json"
)

// MaxDepth is the deepest nesting that is read, as in encoding/json.
const MaxDepth = 10000

// errSlow asks for the library: the input is wrong, or so unusual that the
// library should decide.
var errSlow = errors.New("object: not on the fast path")

// Parse reads one JSON object. Duplicate fields keep the last value; their
// paths are returned in Kubernetes' wording ('duplicate field "spec.x"').
// Errors are those of sigs.k8s.io/json, which clients know.
func Parse(data []byte) (tree map[string]any, duplicates []string, err error) {
	p := parser{data: data}
	v, err := p.document()
	if err == nil {
		if m, ok := v.(map[string]any); ok {
			return m, p.duplicates, nil
		}
	}
	return parseSlow(data)
}

func parseSlow(data []byte) (map[string]any, []string, error) {
	var v any
	strict, err := kjson.UnmarshalStrict(data, &v)
	if err != nil {
		return nil, nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, nil, fmt.Errorf("json: cannot unmarshal %s into Go value of type map[string]interface {}", jsonType(v))
	}
	var dups []string
	for _, e := range strict {
		dups = append(dups, e.Error())
	}
	return m, dups, nil
}

func jsonType(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "bool"
	case string:
		return "string"
	case []any:
		return "array"
	default:
		return "number"
	}
}

// step is one element of the path to the value being read: a field, or an
// index when that is not negative.
type step struct {
	field string
	index int
}

type parser struct {
	data       []byte
	i          int
	depth      int
	path       []step
	duplicates []string
}

func (p *parser) document() (any, error) {
	p.space()
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	p.space()
	if p.i != len(p.data) {
		return nil, errSlow
	}
	return v, nil
}

func (p *parser) space() {
	for p.i < len(p.data) {
		switch p.data[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

func (p *parser) value() (any, error) {
	if p.i >= len(p.data) {
		return nil, errSlow
	}
	switch c := p.data[p.i]; c {
	case '{':
		return p.object()
	case '[':
		return p.array()
	case '"':
		return p.str()
	case 't':
		return true, p.word("true")
	case 'f':
		return false, p.word("false")
	case 'n':
		return nil, p.word("null")
	default:
		return p.number()
	}
}

func (p *parser) word(w string) error {
	if len(p.data)-p.i < len(w) || string(p.data[p.i:p.i+len(w)]) != w {
		return errSlow
	}
	p.i += len(w)
	return nil
}

func (p *parser) object() (any, error) {
	if p.depth++; p.depth > MaxDepth {
		return nil, errSlow
	}
	p.i++
	m := make(map[string]any, 8)
	p.space()
	if p.peek() == '}' {
		p.i++
		p.depth--
		return m, nil
	}
	for {
		p.space()
		if p.peek() != '"' {
			return nil, errSlow
		}
		k, err := p.str()
		if err != nil {
			return nil, err
		}
		if k == "" {
			return nil, errSlow // the library words such paths in its own way
		}
		p.space()
		if p.peek() != ':' {
			return nil, errSlow
		}
		p.i++
		p.space()
		if _, dup := m[k]; dup {
			p.duplicate(k)
		}
		p.path = append(p.path, step{k, -1})
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		p.path = p.path[:len(p.path)-1]
		m[k] = v
		p.space()
		switch p.peek() {
		case ',':
			p.i++
		case '}':
			p.i++
			p.depth--
			return m, nil
		default:
			return nil, errSlow
		}
	}
}

func (p *parser) array() (any, error) {
	if p.depth++; p.depth > MaxDepth {
		return nil, errSlow
	}
	p.i++
	a := []any{}
	p.space()
	if p.peek() == ']' {
		p.i++
		p.depth--
		return a, nil
	}
	p.path = append(p.path, step{})
	for {
		p.space()
		p.path[len(p.path)-1].index = len(a)
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		a = append(a, v)
		p.space()
		switch p.peek() {
		case ',':
			p.i++
		case ']':
			p.i++
			p.depth--
			p.path = p.path[:len(p.path)-1]
			return a, nil
		default:
			return nil, errSlow
		}
	}
}

func (p *parser) peek() byte {
	if p.i < len(p.data) {
		return p.data[p.i]
	}
	return 0
}

// duplicate notes a field that was seen before. Paths of elements look as the
// library prints them: a.b[0].c.
func (p *parser) duplicate(k string) {
	if len(p.duplicates) >= 100 { // the library stops there too
		return
	}
	var b strings.Builder
	for _, e := range p.path {
		if e.index >= 0 {
			fmt.Fprintf(&b, "[%d]", e.index)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(e.field)
	}
	if b.Len() > 0 {
		b.WriteByte('.')
	}
	b.WriteString(k)
	d := fmt.Sprintf("duplicate field %q", b.String())
	for _, seen := range p.duplicates {
		if seen == d {
			return
		}
	}
	p.duplicates = append(p.duplicates, d)
}

func (p *parser) str() (string, error) {
	start := p.i + 1
	for i := start; i < len(p.data); i++ {
		switch c := p.data[i]; {
		case c == '"':
			s := p.data[start:i]
			p.i = i + 1
			if !utf8.Valid(s) {
				return "", errSlow
			}
			return string(s), nil
		case c == '\\':
			return p.escaped(start, i)
		case c < ' ':
			return "", errSlow
		}
	}
	return "", errSlow
}

// escaped reads a string with escapes; i is at the first backslash.
func (p *parser) escaped(start, i int) (string, error) {
	b := append(make([]byte, 0, i-start+32), p.data[start:i]...)
	for i < len(p.data) {
		c := p.data[i]
		switch {
		case c == '"':
			p.i = i + 1
			if !utf8.Valid(b) {
				return "", errSlow
			}
			return string(b), nil
		case c < ' ':
			return "", errSlow
		case c != '\\':
			b = append(b, c)
			i++
			continue
		}
		if i+1 >= len(p.data) {
			return "", errSlow
		}
		switch e := p.data[i+1]; e {
		case '"', '\\', '/':
			b = append(b, e)
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			r, n := unicodeEscape(p.data[i:])
			if n == 0 {
				return "", errSlow
			}
			b = utf8.AppendRune(b, r)
			i += n
			continue
		default:
			return "", errSlow
		}
		i += 2
	}
	return "", errSlow
}

// unicodeEscape decodes \uXXXX at the start of s. Surrogates go to the library.
func unicodeEscape(s []byte) (rune, int) {
	if len(s) < 6 {
		return 0, 0
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 32)
	if err != nil || n >= 0xd800 && n < 0xe000 {
		return 0, 0
	}
	return rune(n), 6
}

// number reads what JSON allows: integers that fit become int64, the rest
// float64.
func (p *parser) number() (any, error) {
	start := p.i
	end, integer := numberEnd(p.data, start)
	if end == start {
		return nil, errSlow
	}
	s := string(p.data[start:end])
	p.i = end
	if integer {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n, nil
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, errSlow
	}
	return f, nil
}

// numberEnd returns where the JSON number at i ends (i itself: there is none).
func numberEnd(d []byte, i int) (end int, integer bool) {
	start := i
	if i < len(d) && d[i] == '-' {
		i++
	}
	digits := func() bool {
		s := i
		for i < len(d) && d[i] >= '0' && d[i] <= '9' {
			i++
		}
		return i > s
	}
	first := i
	if !digits() || d[first] == '0' && i > first+1 {
		return start, false
	}
	integer = true
	if i < len(d) && d[i] == '.' {
		integer = false
		i++
		if !digits() {
			return start, false
		}
	}
	if i < len(d) && (d[i] == 'e' || d[i] == 'E') {
		integer = false
		i++
		if i < len(d) && (d[i] == '+' || d[i] == '-') {
			i++
		}
		if !digits() {
			return start, false
		}
	}
	return i, integer
}
