package recorded

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// Folder is where recordings are, from the module's root: the tables, and in them
// the files of stories.
const Folder = "test/recorded"

// ErrOtherRequests is that of a recording that was made of other requests: it
// has to be made anew.
var ErrOtherRequests = errors.New("what is recorded are the replies to other requests")

// Name is the name of a story's file, without what it ends with.
func Name(s story.Story) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}, s.Name)
}

// Save writes what was answered to a story's definition and steps into the file of
// a table in a folder. Replies are texts as [story.Texts] has them.
func Save(folder, table string, s story.Story, replies []string) error {
	headings := Headings(s)
	if len(replies) > len(headings) {
		return fmt.Errorf("%d replies to %d requests", len(replies), len(headings))
	}
	var b strings.Builder
	b.WriteString(StoryLine + s.Name + "\n")
	if path := base(s); path != "" {
		fmt.Fprintf(&b, "~ is %s\n", path)
	}
	if s.Sample != "" {
		fmt.Fprintf(&b, "object is %s\n", s.Sample)
	}
	b.WriteString("\n")
	w := NewReplies(&b, replies)
	for i, text := range replies {
		b.WriteString(headings[i] + "\n")
		w.Write(text)
	}
	path := filepath.Join(folder, table, Name(s)+".txt")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// Recording is what was answered to a story.
type Recording struct {
	// Headings are those of all requests, and Replies the texts of the replies, one
	// for each, or for the first of them, where the story ended with it.
	Headings, Replies []string
}

// Load reads what [Save] wrote. The error is [ErrOtherRequests] where the story's
// requests are not those that were recorded.
func Load(folder, table string, s story.Story) (Recording, error) {
	path := filepath.Join(folder, table, Name(s)+".txt")
	f, err := os.Open(path)
	if err != nil {
		return Recording{}, fmt.Errorf("it is not recorded: %w", err)
	}
	defer f.Close()
	r := Recording{Headings: Headings(s)}
	if err := r.read(bufio.NewReader(f)); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	if len(r.Replies) < len(r.Headings) && !s.Doubtful {
		return r, fmt.Errorf("%s: %w: %s", path, ErrOtherRequests, r.Headings[len(r.Replies)])
	}
	return r, nil
}

func (r *Recording) read(from *bufio.Reader) error {
	in := NewLines(from)
	for in.Head() != "" { // what the story is about
	}
	known := map[string]string{}
	for {
		heading, lines, err := in.Next()
		if err != nil || heading == "" {
			return err
		}
		if n := len(r.Replies); n == len(r.Headings) || heading != r.Headings[n] {
			return fmt.Errorf("%w: %s", ErrOtherRequests, heading)
		}
		text, err := Resolve(known, lines)
		if err != nil {
			return fmt.Errorf("%s: %w", heading, err)
		}
		r.Replies = append(r.Replies, text)
	}
}
