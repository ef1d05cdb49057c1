package differences

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wasmgate/wasmgate/test/recorded"
)

// What the lines of a file begin with that are neither headings nor replies.
const (
	whyLine  = "why "
	rowLine  = "row "
	mostLine = "most "
)

// load reads the file of a reason.
func load(path string) (*Reason, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := recorded.NewLines(bufio.NewReader(f))
	r := &Reason{Replies: map[string]map[string]string{}}
	for line := in.Head(); line != ""; line = in.Head() {
		if err := r.head(line); err != nil {
			return nil, err
		}
	}
	if r.Why == "" {
		return nil, errors.New("it gives no reason")
	}
	return r, r.read(in)
}

// head reads a line of what comes first.
func (r *Reason) head(line string) (err error) {
	if text, ok := strings.CutPrefix(line, whyLine); ok {
		r.Why = text
		return nil
	}
	if text, ok := strings.CutPrefix(line, rowLine); ok {
		r.Row = text
		return nil
	}
	text, ok := strings.CutPrefix(line, mostLine)
	if ok {
		r.Most, err = strconv.Atoi(text)
	}
	if err != nil || !ok {
		return fmt.Errorf("%q says nothing about a reason", line)
	}
	return nil
}

// read reads the requests with their replies.
func (r *Reason) read(in *recorded.Lines) error {
	story, known := "", map[string]string{}
	for {
		if name, ok := in.Story(); ok {
			story = name
		}
		heading, lines, err := in.Next()
		if err != nil || heading == "" {
			return err
		}
		reply, err := recorded.Resolve(known, lines)
		if err == nil && story == "" {
			err = errors.New("it is of no story")
		}
		if _, twice := r.Replies[story][heading]; twice {
			err = errors.New("it is listed twice")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", heading, err)
		}
		r.add(story, heading, reply)
	}
}

// save writes the file of a reason, or removes it where nothing is left to explain.
func (r *Reason) save(folder string) error {
	path := filepath.Join(folder, r.file())
	if r.count() == 0 {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	var all []string
	for _, replies := range r.Replies {
		all = slices.AppendSeq(all, maps.Values(replies))
	}
	var b strings.Builder
	b.WriteString(whyLine + r.Why + "\n")
	if r.Row != "" {
		b.WriteString(rowLine + r.Row + "\n")
	} else {
		fmt.Fprintf(&b, "%s%d\n", mostLine, r.Most)
	}
	w := recorded.NewReplies(&b, all)
	for _, story := range slices.Sorted(maps.Keys(r.Replies)) {
		b.WriteString("\n" + recorded.StoryLine + story + "\n")
		for _, heading := range slices.Sorted(maps.Keys(r.Replies[story])) {
			b.WriteString(heading + "\n")
			w.Write(r.Replies[story][heading])
		}
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
