package recorded

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// words are the media types that have a word in headings.
var words = map[string]string{
	story.JSON: "json", story.MergePatch: "merge", story.JSONPatch: "jsonpatch", story.Protobuf: "protobuf",
	"application/apply-patch+yaml": "apply", "application/strategic-merge-patch+json": "strategic", "application/yaml": "yaml",
}

// Headings are the requests of a story as text, one for each reply that is
// compared: to the definition, if the story has one, and to its steps. No two are
// equal. A request that was made before says after which new one it is made again,
// and if that does not tell it apart, for how many times.
func Headings(s story.Story) []string {
	w := newWriter(s)
	var all []string
	if s.Definition != "" {
		all = append(all, "define "+digest(s.Definition))
	}
	seen, last := map[string]int{}, ""
	for _, step := range s.Steps {
		asked := w.asked(step)
		heading := asked
		if step.Body != "" {
			heading += " " + w.body(step)
		}
		if seen[heading]++; seen[heading] == 1 {
			last = asked
		} else {
			heading += " (after " + last + ")"
			if seen[heading]++; seen[heading] > 1 {
				heading = strings.TrimSuffix(heading, ")") + ", " + strconv.Itoa(seen[heading]) + ")"
			}
		}
		all = append(all, heading)
	}
	return all
}

// base is the path that ~ stands for in a story's headings.
func base(s story.Story) string {
	if s.Base == "" && s.Definition != "" {
		return "/apis/" + s.Group()
	}
	return s.Base
}

// asked is a request without its body.
func (w *writer) asked(step story.Step) string {
	parts := []string{step.Method, w.path(step.Path)}
	word, ok := words[step.Type]
	switch {
	case step.Type == story.JSON && step.Body != "": // as most bodies are
	case ok:
		parts = append(parts, word)
	case step.Type != "":
		parts = append(parts, plain(step.Type))
	case step.Body != "":
		parts = append(parts, "untyped")
	}
	if step.Accept != "" {
		parts = append(parts, "accept="+accepted(step.Accept))
	}
	for i := 0; i+1 < len(step.Headers); i += 2 {
		parts = append(parts, step.Headers[i]+"="+strconv.Quote(step.Headers[i+1]))
	}
	return strings.Join(parts, " ")
}

// path is a request's, from the story's own on.
func (w *writer) path(path string) string {
	if rest, ok := strings.CutPrefix(path, w.base); ok && w.base != "" && (rest == "" || strings.ContainsAny(rest[:1], "/?")) {
		path = "~" + rest
	}
	return plain(path)
}

// accepted is a media type to accept, by its word if it has one.
func accepted(accept string) string {
	for media, word := range words {
		if rest, ok := strings.CutPrefix(accept, media); ok && (rest == "" || rest[0] == ';') && media != story.JSON {
			return plain(word + rest)
		}
	}
	return plain(accept)
}

// plain is a text as it is, or quoted where it would not be one word of a line.
func plain(text string) string {
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r == '"' || r > '~' }) < 0 {
		return text
	}
	return strconv.Quote(text)
}

// mostQuoted bounds the bytes of a body in a heading.
const mostQuoted = 600

// short is a text that is long by its beginning and its digest.
func short(text string) string {
	if len(text) <= mostQuoted {
		return text
	}
	return fmt.Sprintf("%s… of %d bytes, %s", strings.ToValidUTF8(text[:mostQuoted/2], ""), len(text), digest(text))
}

// digest tells texts apart.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}
