package recorded

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Replies writes the replies of one file.
type Replies struct {
	w     io.StringWriter
	count map[string]int
	// bases are the first bodies of their kinds, by kinds, of which there are
	// others: a body is written as what sets it off from its base.
	bases map[string]string
	// known are the replies that were written, by digests.
	known map[string]string
}

// NewReplies writes replies, of which these are all, to w.
func NewReplies(w io.StringWriter, all []string) *Replies {
	r := &Replies{w: w, count: map[string]int{}, bases: map[string]string{}, known: map[string]string{}}
	others := map[string]bool{}
	for _, text := range all {
		if r.count[text]++; r.count[text] > 1 || len(text) <= mostRepeated {
			continue
		}
		if kind := kindOf(text); kind != "" && r.bases[kind] == "" {
			r.bases[kind] = text
		} else {
			others[kind] = true
		}
	}
	for kind := range r.bases {
		if !others[kind] {
			delete(r.bases, kind)
		}
	}
	return r
}

// kindOf is the kind of the body of a reply, "" for none and for a refusal.
func kindOf(text string) string {
	r, err := read(text)
	if kind, ok := r.Body["kind"].(string); err == nil && ok && kind != "Status" {
		return fmt.Sprint(r.Body["apiVersion"], " ", kind)
	}
	return ""
}

// mostRepeated bounds the bytes of a reply that is written whenever it is given.
const mostRepeated = 60

// Write writes a reply, or what stands for it where it was written before.
func (r *Replies) Write(text string) {
	lines := format(text)
	base := r.bases[kindOf(text)]
	if len(strings.Join(lines, "\n")) > mostRepeated && !strings.HasPrefix(lines[0], whole) {
		code, rest, _ := strings.Cut(lines[0], " ")
		mark := code + " [" + digest(text) + "]"
		switch {
		case r.known[digest(text)] == text:
			lines = []string{mark}
		case text == base:
			lines[0] = mark + " " + rest
			r.known[digest(text)] = text
		default:
			lines = r.against(base, text, lines)
			if r.count[text] > 1 {
				lines[0] = mark + " " + strings.TrimPrefix(lines[0], code+" ")
				r.known[digest(text)] = text
			}
		}
	}
	for i, line := range lines {
		if i == 0 {
			line = "> " + line
		}
		_, _ = r.w.WriteString(line + "\n") // in memory
	}
}

// against are the lines of a reply with a body that is set off from that of a base,
// which was written, where that is much shorter.
func (r *Replies) against(base, text string, lines []string) []string {
	if r.known[digest(base)] != base || base == "" {
		return lines
	}
	from, err := read(base)
	if err != nil {
		return lines
	}
	to, err := read(text)
	if err != nil {
		return lines
	}
	body := encode(to.Body)
	short := less(digest(base), from.Body, to.Body)
	head, ok := strings.CutSuffix(lines[0], body)
	if !ok || len(short) > len(body)/2 {
		return lines
	}
	out := append([]string{head + short}, lines[1:]...)
	if again, err := Resolve(r.known, out); err != nil || again != text {
		return lines
	}
	return out
}

var (
	marked = regexp.MustCompile(`^([0-9]+) \[([0-9a-f]{8})\]( ?)`)
	setOff = regexp.MustCompile(`^([0-9]+ (?:unordered )?)\{\.\.\.([0-9a-f]{8})(.*)$`)
)

// Resolve is the reply that lines are or stand for. What known has by digests it
// adds to.
func Resolve(known map[string]string, lines []string) (string, error) {
	m := marked.FindStringSubmatch(lines[0])
	if m == nil {
		return resolveBody(known, lines)
	}
	if m[3] == "" {
		text, ok := known[m[2]]
		if !ok {
			return "", fmt.Errorf("%w: there is none %s above", errReply, m[2])
		}
		return text, nil
	}
	text, err := resolveBody(known, append([]string{m[1] + " " + lines[0][len(m[0]):]}, lines[1:]...))
	if err == nil && digest(text) != m[2] {
		err = fmt.Errorf("its digest is %s", digest(text))
	}
	known[m[2]] = text
	return text, err
}

// resolveBody is a reply whose body may be set off from another's.
func resolveBody(known map[string]string, lines []string) (string, error) {
	m := setOff.FindStringSubmatch(lines[0])
	if m == nil {
		return parse(lines)
	}
	base, err := read(known[m[2]])
	if err != nil {
		return "", fmt.Errorf("%w: there is none %s above", errReply, m[2])
	}
	body, err := more(base.Body, m[3])
	if err != nil {
		return "", err
	}
	return parse(append([]string{m[1] + encode(body)}, lines[1:]...))
}
