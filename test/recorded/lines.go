package recorded

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Lines reads headings, each followed by a reply.
type Lines struct {
	r    *bufio.Reader
	next string // the line that was read ahead
	err  error
}

// NewLines reads the first line.
func NewLines(r *bufio.Reader) *Lines {
	l := &Lines{r: r}
	l.advance()
	return l
}

func (l *Lines) advance() {
	line, err := l.r.ReadString('\n')
	l.next, l.err = strings.TrimSuffix(line, "\n"), err
	if errors.Is(err, io.EOF) && line != "" {
		l.err = nil
	}
}

// Head is the next line of what comes before the first heading, "" for an empty
// line, which ends it, and for the end.
func (l *Lines) Head() string {
	line := l.next
	if l.err == nil {
		l.advance()
	}
	return line
}

// StoryLine begins the line above the requests of a story, where a file has those
// of several.
const StoryLine = "story "

// Story is the name of the story whose requests follow, if another's do. Empty lines
// above it count for nothing.
func (l *Lines) Story() (name string, ok bool) {
	for l.err == nil && l.next == "" {
		l.advance()
	}
	if name, ok = strings.CutPrefix(l.next, StoryLine); ok {
		l.advance()
	}
	return name, ok
}

// Next is a heading and the lines of the reply to it, without what marks them. At
// the end there is none.
func (l *Lines) Next() (heading string, lines []string, err error) {
	if l.err != nil {
		if errors.Is(l.err, io.EOF) {
			return "", nil, nil
		}
		return "", nil, l.err
	}
	heading = l.next
	l.advance()
	first, ok := strings.CutPrefix(l.next, "> ")
	if l.err != nil || !ok {
		return "", nil, fmt.Errorf("%q is followed by no reply", heading)
	}
	lines = []string{first}
	for l.advance(); l.err == nil && strings.HasPrefix(l.next, "  "); l.advance() {
		lines = append(lines, l.next)
	}
	return heading, lines, nil
}

// Replies writes the replies of one file.
type Replies struct {
	w       io.StringWriter
	count   map[string]int
	written map[string]bool
}

// NewReplies writes replies, of which these are all, to w.
func NewReplies(w io.StringWriter, all []string) *Replies {
	r := &Replies{w: w, count: map[string]int{}, written: map[string]bool{}}
	for _, text := range all {
		r.count[text]++
	}
	return r
}

// mostRepeated bounds the bytes of a reply that is written whenever it is given.
const mostRepeated = 60

// Write writes a reply, or what stands for it where it was written before.
func (r *Replies) Write(text string) {
	lines := format(text)
	if r.count[text] > 1 && len(strings.Join(lines, "\n")) > mostRepeated && !strings.HasPrefix(lines[0], whole) {
		code, rest, _ := strings.Cut(lines[0], " ")
		mark := code + " [" + digest(text) + "]"
		if lines[0] = mark + " " + rest; r.written[text] {
			lines = []string{mark}
		}
		r.written[text] = true
	}
	for i, line := range lines {
		if i == 0 {
			line = "> " + line
		}
		_, _ = r.w.WriteString(line + "\n") // in memory
	}
}

var marked = regexp.MustCompile(`^([0-9]+) \[([0-9a-f]{8})\]( ?)`)

// Resolve is the reply that lines are or stand for. What known has by digests it
// adds to.
func Resolve(known map[string]string, lines []string) (string, error) {
	m := marked.FindStringSubmatch(lines[0])
	if m == nil {
		return parse(lines)
	}
	if m[3] == "" {
		text, ok := known[m[2]]
		if !ok {
			return "", fmt.Errorf("%w: there is none %s above", errReply, m[2])
		}
		return text, nil
	}
	text, err := parse(append([]string{m[1] + " " + lines[0][len(m[0]):]}, lines[1:]...))
	if err == nil && digest(text) != m[2] {
		err = fmt.Errorf("its digest is %s", digest(text))
	}
	known[m[2]] = text
	return text, err
}
