package object

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	kjson "sigs.k8s.io/json"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// MaxDepth is the deepest nesting that is read, as in encoding/json.
const MaxDepth = 10000

// errRefused says that the input is not JSON; the library finds the words.
var errRefused = errors.New("object: malformed JSON")

// Parse reads one JSON object. Duplicate fields keep the last value; their
// paths are returned in Kubernetes' wording ('duplicate field "spec.x"'), each
// once, at most 100, and long ones cut. Errors are those of sigs.k8s.io/json,
// which clients know. The time it takes is proportional to the input, whatever
// that holds. The strings of a tree share the memory of one copy of data: who
// keeps a few of them for long clones them.
func Parse(data []byte) (tree map[string]any, duplicates []string, err error) {
	return parse(parser{data: data})
}

func parse(p parser) (tree map[string]any, duplicates []string, err error) {
	var room [16]step
	p.path = room[:0]
	p.text = string(p.data)
	v, err := p.document()
	p.release()
	if err != nil {
		return nil, nil, refusal(p.data)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, nil, fmt.Errorf("json: cannot unmarshal %s into Go value of type map[string]interface {}", jsonType(v))
	}
	return m, p.duplicates.found, nil
}

// refusal is the library's error for what is not JSON. It is not asked for
// duplicates, which can cost it time without bounds.
func refusal(data []byte) error {
	var v any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &v); err != nil {
		return err
	}
	return errRefused
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

type parser struct {
	data       []byte
	text       string // data, of which all strings without escapes are parts
	whole      bool   // a whole object; see [ParseObject]
	like       Text   // what the next value, an object, is like; see [ParseLike]
	i          int
	depth      int
	path       []step
	items      *[]any // of the lists around i, each after those around it
	duplicates duplicates
}

// open is memory for the items of lists whose ends are not known yet, and maxOpen how
// many are kept room for.
var open = sync.Pool{New: func() any { return new([]any) }}

const maxOpen = 1 << 16

// release gives back what was borrowed. Of what is no JSON lists may be left open.
func (p *parser) release() {
	if p.items == nil {
		return
	}
	if clear(*p.items); cap(*p.items) <= maxOpen {
		*p.items = (*p.items)[:0]
		open.Put(p.items)
	}
}

func (p *parser) document() (any, error) {
	p.space()
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	p.space()
	if p.i != len(p.data) {
		return nil, errRefused
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
		return nil, errRefused
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
		return errRefused
	}
	p.i += len(w)
	return nil
}

func (p *parser) object() (any, error) {
	if p.depth++; p.depth > MaxDepth {
		return nil, errRefused
	}
	p.i++
	others := p.knownFields()
	m := make(map[string]any, max(8, len(others.fields)))
	var twice map[string]bool // the fields that were reported
	p.space()
	if p.peek() == '}' {
		p.i++
		p.depth--
		return m, nil
	}
	for {
		p.space()
		if p.peek() != '"' {
			return nil, errRefused
		}
		start := p.i + 1
		k, err := p.str()
		if err != nil {
			return nil, err
		}
		raw := p.data[start : p.i-1]
		p.space()
		if p.peek() != ':' {
			return nil, errRefused
		}
		p.i++
		p.space()
		if _, dup := m[k]; dup && !twice[k] {
			if twice == nil {
				twice = map[string]bool{}
			}
			twice[k] = true
			p.duplicates.note(p.path, k)
		}
		if v, ok := p.shared(&others, raw, k); ok {
			m[k] = v
		} else if managed, ok := p.managed(k); ok {
			m[k] = managed
		} else if m[k], err = p.member(k); err != nil {
			return nil, err
		}
		p.space()
		switch p.peek() {
		case ',':
			p.i++
		case '}':
			p.i++
			p.depth--
			return m, nil
		default:
			return nil, errRefused
		}
	}
}

func (p *parser) member(name string) (any, error) {
	p.path = append(p.path, step{name, -1})
	v, err := p.value()
	p.path = p.path[:len(p.path)-1]
	return v, err
}

func (p *parser) array() (any, error) {
	if p.depth++; p.depth > MaxDepth {
		return nil, errRefused
	}
	p.i++
	p.space()
	if p.peek() == ']' {
		p.i++
		p.depth--
		return []any{}, nil
	}
	if p.items == nil {
		p.items = open.Get().(*[]any)
	}
	first := len(*p.items)
	p.path = append(p.path, step{})
	for {
		p.space()
		p.path[len(p.path)-1].index = len(*p.items) - first
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		*p.items = append(*p.items, v)
		p.space()
		switch p.peek() {
		case ',':
			p.i++
		case ']':
			p.i++
			p.depth--
			p.path = p.path[:len(p.path)-1]
			return p.closed(first), nil
		default:
			return nil, errRefused
		}
	}
}

// closed is the innermost list, whose items begin at first. It has room for no more.
func (p *parser) closed(first int) []any {
	items := *p.items
	list := slices.Clone(items[first:])
	clear(items[first:])
	*p.items = items[:first]
	return list
}

func (p *parser) peek() byte {
	if p.i < len(p.data) {
		return p.data[p.i]
	}
	return 0
}

// str reads a string. The way through is short for those without escapes.
func (p *parser) str() (string, error) {
	start, escaped, ascii := p.i+1, false, true
	for i := rawjson.Plain(p.data, start); i < len(p.data); i++ {
		c := p.data[i]
		if ordinary[c] {
			continue
		}
		switch {
		case c == '"':
			p.i = i + 1
			if s := p.text[start:i]; !escaped && (ascii || utf8.ValidString(s)) {
				return s, nil
			}
			return validUTF8(rawjson.Unescape(p.data[start:i])), nil
		case c == '\\':
			n := rawjson.EscapeLen(p.data, i)
			if n == 0 {
				return "", errRefused
			}
			escaped = true
			i += n - 1
		case c >= utf8.RuneSelf:
			ascii = false
		case c < ' ':
			return "", errRefused
		}
	}
	return "", errRefused
}

// validUTF8 replaces every byte that is not UTF-8, one by one, as encoding/json
// does.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// number reads what JSON allows: integers that fit become int64, the rest
// float64.
func (p *parser) number() (any, error) {
	start := p.i
	end := numberEnd(p.data, start)
	if end == start {
		return nil, errRefused
	}
	s := p.text[start:end]
	p.i = end
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, errRefused
	}
	return f, nil
}

// numberEnd returns where the JSON number at i, which is not the end of d, ends
// (i itself: there is none).
func numberEnd(d []byte, i int) (end int) {
	start := i
	if d[i] == '-' {
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
		return start
	}
	if i < len(d) && d[i] == '.' {
		i++
		if !digits() {
			return start
		}
	}
	if i < len(d) && (d[i] == 'e' || d[i] == 'E') {
		i++
		if i < len(d) && (d[i] == '+' || d[i] == '-') {
			i++
		}
		if !digits() {
			return start
		}
	}
	return i
}
