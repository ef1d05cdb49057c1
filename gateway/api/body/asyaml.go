package body

import (
	"bytes"
	"unicode/utf8"
)

// maxSimpleKey is how many characters YAML's library looks ahead for the colon after a key.
const maxSimpleKey = 1024

// sameAsYAML reports whether YAML surely reads a JSON text as JSON does, but for its
// numbers. It knows neither every escape nor every character that JSON has, folds lines at
// more of them, and does not find the colon after long keys.
func sameAsYAML(text []byte) bool {
	inner := bytes.Trim(text, " \r\n")
	if len(inner) == 0 || inner[0] == '\t' || inner[len(inner)-1] == '\t' {
		return false
	}
	key, within := 0, false // where the last string began, and whether it goes on
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; {
		case c == '"':
			if within = !within; within {
				key = i
			}
		case c == '\\':
			if !sameEscape(inner[i+1:]) {
				return false
			}
			i++
		case c == ':' && !within:
			if i-key > maxSimpleKey || bytes.ContainsAny(inner[max(key, bytes.LastIndexByte(inner[:i], '"')):i], "\r\n") {
				return false
			}
		case c >= 0x7f:
			r, size := utf8.DecodeRune(inner[i:])
			if !sameCharacter(r) {
				return false
			}
			i += size - 1
		}
	}
	return true
}

// sameEscape tells so of what follows a backslash.
func sameEscape(rest []byte) bool {
	if len(rest) < 3 || rest[0] != 'u' {
		return len(rest) > 0 && rest[0] != '/'
	}
	surrogate := rest[1]|' ' == 'd' && (rest[2] == '8' || rest[2] == '9' || rest[2] >= 'A')
	return !surrogate
}

// sameCharacter tells so of a character after those of ASCII. Of bytes that are none it is
// not the same.
func sameCharacter(r rune) bool {
	switch r {
	case '\u2028', '\u2029', '\ufffe', '\uffff', utf8.RuneError:
		return false
	}
	return r > 0x9f
}
