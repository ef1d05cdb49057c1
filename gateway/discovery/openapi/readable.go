package openapi

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// readable is JSON that a reader of YAML, which the library takes for one of JSON, reads as
// what it says: YAML has no characters of control and folds line breaks, however Unicode
// calls them, and knows no pairs of escapes.
func readable(text []byte) []byte {
	if !needsEscapes(text) {
		return text
	}
	out := make([]byte, 0, len(text)+len(text)/8)
	for len(text) > 0 {
		var n int
		if text[0] == '\\' && len(text) > 1 {
			out, n = appendEscape(out, text)
		} else {
			out, n = appendReadable(out, text)
		}
		text = text[n:]
	}
	return out
}

func needsEscapes(text []byte) bool {
	return bytes.ContainsFunc(text, unreadableRune) || bytes.Contains(text, []byte(`\ud`)) || bytes.Contains(text, []byte(`\uD`))
}

// unreadableRune tells characters that are others in YAML, or none. It takes one that is
// no UTF-8 for one, too.
func unreadableRune(r rune) bool {
	switch {
	case r >= 0x7f && r <= 0x9f, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0xfffe, r == 0xffff, r == utf8.RuneError:
		return true
	}
	return false
}

// appendReadable appends the first character of text, which has n bytes.
func appendReadable(dst, text []byte) (_ []byte, n int) {
	r, n := utf8.DecodeRune(text)
	if unreadableRune(r) {
		return fmt.Appendf(dst, `\u%04x`, r), n
	}
	return append(dst, text[:n]...), n
}

// appendEscape appends the escape that text begins with, which has n bytes: a pair of them
// becomes the character that it stands for, and half a pair one that stands for nothing.
func appendEscape(dst, text []byte) (_ []byte, n int) {
	first, ok := escaped(text)
	switch {
	case !ok:
		return append(dst, text[:2]...), 2
	case !utf16.IsSurrogate(first):
		return append(dst, text[:6]...), 6
	}
	if second, ok := escaped(text[6:]); ok {
		if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
			return utf8.AppendRune(dst, r), 12
		}
	}
	return fmt.Appendf(dst, `\u%04x`, utf8.RuneError), 6
}

// escaped is the character, or half of one, that text begins with as a number.
func escaped(text []byte) (r rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil
}
