// Package excerpt owns how a text that somebody else wrote is repeated in a message: what a
// module, a webhook or a client said is cut to a length, and what URLs tell of credentials
// is left out.
//
// It must not know whose text it is, nor where it goes.
package excerpt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mark ends what was cut.
const mark = "..."

// longest is how many bytes a word may lose at the end of an excerpt before it is cut in
// its middle: digests and paths are not left out whole.
const longest = 40

// Of returns text, or where it is longer than most bytes its beginning, to the end of a
// word if one is near, and "...", which come on top. It is valid UTF-8 if text is.
func Of(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := max(most, 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	if next, _ := utf8.DecodeRuneInString(text[end:]); !unicode.IsSpace(next) {
		if at := strings.LastIndexFunc(text[:end], unicode.IsSpace); at > 0 && end-at <= longest {
			end = at
		}
	}
	return strings.TrimRightFunc(text[:end], unicode.IsSpace) + mark
}
