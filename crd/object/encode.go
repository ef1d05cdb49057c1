package object

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"
)

// Append appends the canonical JSON of v to dst: fields sorted, no spaces,
// strings escaped as encoding/json does (also <, > and &). It fails only on
// values that a tree cannot hold.
func Append(dst []byte, v any) ([]byte, error) {
	switch x := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, x), nil
	case string:
		return AppendString(dst, x), nil
	case int64:
		return strconv.AppendInt(dst, x, 10), nil
	case float64:
		return appendFloat(dst, x)
	case map[string]any:
		return appendMap(dst, x, nil)
	case []any:
		return appendSlice(dst, x)
	case Managed:
		return append(dst, x...), nil
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return dst, fmt.Errorf("object: cannot encode %T: %w", v, err)
		}
		return append(dst, b...), nil
	}
}

// encodings is memory to encode in, so that what is kept has no room to spare.
var encodings = sync.Pool{New: func() any { return new([]byte) }}

// maxEncoding is how much memory of one encoding is kept for the next.
const maxEncoding = 1 << 20

// Encode is Append to a fresh slice, which has room for one more byte.
func Encode(v any) ([]byte, error) { return encode(v, nil) }

// encode is Encode of a value that shares parts with an object of which others are
// known, if it is an object and they are not nil.
func encode(v any, others *known) ([]byte, error) {
	buffer := encodings.Get().(*[]byte)
	text, err := (*buffer)[:0], error(nil)
	if m, ok := v.(map[string]any); ok {
		text, err = appendMap(text, m, others)
	} else {
		text, err = Append(text, v)
	}
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(text)+1), text...)
	if cap(text) <= maxEncoding {
		*buffer = text
		encodings.Put(buffer)
	}
	return out, nil
}

var keyPool = sync.Pool{New: func() any { s := make([]string, 0, 16); return &s }}

// appendMap appends an object, what it shares with others, if not nil, from their text.
func appendMap(dst []byte, m map[string]any, others *known) ([]byte, error) {
	if m == nil {
		return append(dst, "null"...), nil
	}
	kp := keyPool.Get().(*[]string)
	defer func() {
		clear(*kp)
		*kp = (*kp)[:0]
		keyPool.Put(kp)
	}()
	keys := *kp
	for k := range m {
		keys = append(keys, k)
	}
	*kp = keys
	slices.Sort(keys)
	dst = append(dst, '{')
	var err error
	for i, k := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, k)
		dst = append(dst, ':')
		if others == nil {
			dst, err = Append(dst, m[k])
		} else {
			dst, err = others.append(dst, k, m[k])
		}
		if err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func appendSlice(dst []byte, a []any) ([]byte, error) {
	if a == nil {
		return append(dst, "null"...), nil
	}
	dst = append(dst, '[')
	var err error
	for i, v := range a {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = Append(dst, v); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// appendFloat writes a zero without its sign: it is read again as an integer, which has none.
func appendFloat(dst []byte, f float64) ([]byte, error) {
	if f == 0 {
		return append(dst, '0'), nil
	}
	b, err := json.Marshal(f)
	if err != nil {
		return dst, fmt.Errorf("object: cannot encode %v: %w", f, err)
	}
	return append(dst, b...), nil
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string, escaped as encoding/json does.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, c)
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			dst = append(append(dst, s[start:i]...), `\ufffd`...)
			i += n
			start = i
			continue
		}
		if r == '\u2028' || r == '\u2029' {
			dst = append(append(dst, s[start:i]...), `\u202`...)
			dst = append(dst, hexDigits[r&0xf])
			i += n
			start = i
			continue
		}
		i += n
	}
	return append(append(dst, s[start:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	default:
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
	}
}
