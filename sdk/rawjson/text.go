package rawjson

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Equal says whether the raw text between the quotes of a JSON string stands
// for s.
func Equal(raw []byte, s string) bool {
	if len(raw) > 0 && len(s) > 0 && raw[0] != s[0] && raw[0] != '\\' {
		return false // as most are
	}
	if len(raw) <= len(s) { // an escape is longer than what it stands for
		return string(raw) == s && bytes.IndexByte(raw, '\\') < 0
	}
	return bytes.IndexByte(raw, '\\') >= 0 && Unescape(raw) == s
}

// String returns the string that value, a complete JSON value, stands for; ok
// is false when it is not a string.
func String(value []byte) (s string, ok bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return "", false
	}
	return Unescape(value[1 : len(value)-1]), true
}

// Unescape resolves the escapes in the raw text between the quotes of a JSON
// string. Lone surrogates become U+FFFD, as in encoding/json.
func Unescape(raw []byte) string {
	i := bytes.IndexByte(raw, '\\')
	if i < 0 {
		return string(raw)
	}
	out := make([]byte, 0, len(raw))
	for {
		out = append(out, raw[:i]...)
		raw = raw[i:]
		if len(raw) < 2 {
			return string(out)
		}
		var n int
		out, n = unescapeOne(out, raw)
		raw = raw[n:]
		if i = bytes.IndexByte(raw, '\\'); i < 0 {
			return string(append(out, raw...))
		}
	}
}

// unescapeOne resolves the escape at the start of raw and returns its length.
func unescapeOne(out, raw []byte) ([]byte, int) {
	switch raw[1] {
	case 'b':
		return append(out, '\b'), 2
	case 'f':
		return append(out, '\f'), 2
	case 'n':
		return append(out, '\n'), 2
	case 'r':
		return append(out, '\r'), 2
	case 't':
		return append(out, '\t'), 2
	case 'u':
		r, ok := hex4(raw, 2)
		if !ok {
			return out, 2
		}
		if utf16.IsSurrogate(r) {
			if len(raw) > 7 && raw[6] == '\\' && raw[7] == 'u' {
				low, _ := hex4(raw, 8)
				if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
					return utf8.AppendRune(out, full), 12
				}
			}
			r = utf8.RuneError
		}
		return utf8.AppendRune(out, r), 6
	}
	return append(out, raw[1]), 2
}

// hex4 reads four hexadecimal digits at i.
func hex4(data []byte, i int) (rune, bool) {
	if len(data)-i < 4 {
		return 0, false
	}
	var r rune
	for _, c := range data[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string, with its quotes. Bytes that are not
// UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += n
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

// IsNull says whether value, a complete JSON value, is null.
func IsNull(value []byte) bool { return len(value) == 4 && value[0] == 'n' }
