package excerpt

import (
	"strings"
	"time"
	"unicode"
)

// separator stands between the scheme of a URL and where that is.
const separator = "://"

// Redacted is text without what URLs in it tell of credentials: who asks, which may be a
// token as well as a name and a password, and queries and fragments. What is left says where a
// server is. URLs may be in quotes, also within JSON.
func Redacted(text string) string {
	if !strings.Contains(text, separator) {
		return text
	}
	var out strings.Builder
	for last := byte(0); ; {
		at := strings.Index(text, separator)
		if at < 0 {
			out.WriteString(text)
			return out.String()
		}
		scheme := schemeBefore(text[:at])
		if scheme > 0 {
			last = text[scheme-1]
		}
		at += len(separator)
		out.WriteString(text[:at])
		text = text[at:]
		end := urlEnd(text, last == '"')
		out.WriteString(redactedURL(text[:end]))
		if end > 0 {
			last = text[end-1]
		}
		text = text[end:]
	}
}

// schemeBefore is where the scheme begins that ends text.
func schemeBefore(text string) int {
	return len(text) - len(text[strings.LastIndexFunc(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("+-.", r))
	})+1:])
}

// urlEnd is where a URL ends whose rest begins text: with the quotes that it is in, where
// what is no URL may have blanks, or before the next one, unless that is in its query.
func urlEnd(text string, quoted bool) int {
	asks := false
	for i, r := range text {
		escaped := r == '\\' && !strings.HasPrefix(text[i+1:], "u") // \u0026 is part of a URL
		switch {
		case r == '"' || escaped || r == '\n' || !quoted && (unicode.IsSpace(r) || strings.ContainsRune("<>`", r)):
			return i
		case r == '?' || r == '#':
			asks = true
		case r == ':' && !asks && strings.HasPrefix(text[i:], separator):
			return schemeBefore(text[:i])
		}
	}
	return len(text)
}

// redactedURL is what may be told of what comes behind "://".
func redactedURL(rest string) string {
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority = rest[:end]
	}
	who := strings.LastIndexByte(authority, '@')
	if who < 0 && !isPort(authority) { // what has no port there may be a password with a slash
		who = strings.LastIndexByte(rest, '@')
	}
	asks := ""
	if who >= 0 {
		asks, rest = mark+"@", rest[who+1:]
	}
	begin := strings.IndexAny(rest, "?#")
	if begin < 0 {
		return asks + rest
	}
	after := ""
	if blank := strings.IndexFunc(rest[begin:], unicode.IsSpace); blank >= 0 {
		rest, after = rest[:begin+blank], rest[begin+blank:]
	}
	if isTimeout(rest[begin:]) {
		return asks + rest + after
	}
	return asks + rest[:begin+1] + mark + after
}

// isTimeout reports whether a query says how long the answer may take, and nothing else:
// Kubernetes' clients add that.
func isTimeout(query string) bool {
	long, ok := strings.CutPrefix(query, "?timeout=")
	_, err := time.ParseDuration(long)
	return ok && err == nil
}

// isPort reports whether a host ends with a port, or with none.
func isPort(host string) bool {
	at := strings.LastIndexByte(host, ':')
	return at < 0 || strings.HasSuffix(host, "]") || strings.Trim(host[at+1:], "0123456789") == ""
}

// RedactedError says what err does, [Redacted], and is err to errors.Is and errors.As; nil
// for nil.
func RedactedError(err error) error {
	if err == nil {
		return nil
	}
	return redacted{err}
}

type redacted struct{ error }

// Error says what happened.
func (r redacted) Error() string { return Redacted(r.error.Error()) }

// Unwrap returns what it is.
func (r redacted) Unwrap() error { return r.error }
