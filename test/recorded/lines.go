package recorded

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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
