package differences

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// List is where a gateway answers otherwise. It is not safe for concurrent use.
type List struct {
	// Most bounds the rows of the differences that no row of the feature list justifies.
	Most int `json:"most"`
	// Differences are by reason; no row is in two of them.
	Differences []Difference `json:"differences"`

	replies map[string]string // by their digests
}

// Difference is one reason, and what it explains.
type Difference struct {
	Why string `json:"why"`
	// Row is the row of the feature list by which ours departs, empty for none.
	Row string `json:"row,omitempty"`
	// Count is the number of rows.
	Count int `json:"count"`
	// Rows are, by the names of stories, the digests of the gateway's replies to
	// the steps that it answers otherwise.
	Rows map[string]Rows `json:"rows"`
}

// Own is the gateway's own reply to a row, and the reason for it.
type Own struct{ Why, Reply string }

const (
	listFile    = "differences.json"
	repliesFile = "replies.json"
)

// Digest is how a list names a reply.
func Digest(reply string) string {
	sum := sha256.Sum256([]byte(reply))
	return hex.EncodeToString(sum[:4])
}

// Load reads the list in a folder. It returns an error when the list contradicts
// itself, or holds more than it may, or less without having lowered the bound.
func Load(folder string) (*List, error) {
	l := &List{replies: map[string]string{}}
	var replies map[string]json.RawMessage
	if err := errors.Join(read(filepath.Join(folder, listFile), l), read(filepath.Join(folder, repliesFile), &replies)); err != nil {
		return nil, err
	}
	for digest, reply := range replies {
		if Digest(string(reply)) != digest {
			return nil, fmt.Errorf("%s: %s is not the digest of its reply: write it with -differences.take", folder, digest)
		}
		l.replies[digest] = string(reply)
	}
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	return l, nil
}

func read(path string, into any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// check looks for contradictions.
func (l *List) check() error {
	seen := map[string]map[int]bool{}
	for _, d := range l.Differences {
		n := 0
		for story, rows := range d.Rows {
			if seen[story] == nil {
				seen[story] = map[int]bool{}
			}
			for row, digest := range rows {
				if seen[story][row] {
					return fmt.Errorf("row %d of %s is listed twice", row, story)
				}
				seen[story][row] = true
				if _, ok := l.replies[digest]; !ok {
					return fmt.Errorf("row %d of %s: %s has no reply %s", row, story, repliesFile, digest)
				}
				n++
			}
		}
		if d.Why == "" || n == 0 || n != d.Count {
			return fmt.Errorf("%q has %d rows, and says %d", d.Why, n, d.Count)
		}
	}
	switch n := l.unjustified(); {
	case n > l.Most:
		return fmt.Errorf("%d rows differ for no row of the feature list, and no more than %d may: mend them, or name the row that justifies the new ones", n, l.Most)
	case n < l.Most:
		return fmt.Errorf("%d rows differ for no row of the feature list: lower \"most\", which is %d, to that", n, l.Most)
	}
	return nil
}

// unjustified counts the rows that no row of the feature list justifies.
func (l *List) unjustified() int {
	n := 0
	for _, d := range l.Differences {
		if d.Row == "" {
			n += d.Count
		}
	}
	return n
}

// Of are the listed steps of a story, counted from 0.
func (l *List) Of(story string) map[int]Own {
	out := map[int]Own{}
	for _, d := range l.Differences {
		for row, digest := range d.Rows[story] {
			out[row] = Own{Why: d.Why, Reply: l.replies[digest]}
		}
	}
	return out
}

// Justifying are the rows of the feature list that differences name.
func (l *List) Justifying() []string {
	var rows []string
	for _, d := range l.Differences {
		if d.Row != "" {
			rows = append(rows, d.Row)
		}
	}
	return rows
}

// set gives a row another reply and, where it is new, a reason; "" takes it off.
func (l *List) set(story string, row int, reply, why, feature string) {
	for i := range l.Differences {
		rows := l.Differences[i].Rows[story]
		if _, listed := rows[row]; !listed {
			continue
		}
		if reply == "" {
			delete(rows, row)
			return
		}
		rows[row] = Digest(reply)
		l.replies[Digest(reply)] = reply
		return
	}
	if reply == "" {
		return
	}
	l.replies[Digest(reply)] = reply
	i := slices.IndexFunc(l.Differences, func(d Difference) bool { return d.Why == why && d.Row == feature })
	if i < 0 {
		i = len(l.Differences)
		l.Differences = append(l.Differences, Difference{Why: why, Row: feature, Rows: map[string]Rows{}})
	}
	if l.Differences[i].Rows[story] == nil {
		l.Differences[i].Rows[story] = Rows{}
	}
	l.Differences[i].Rows[story][row] = Digest(reply)
}

// Save writes the list to a folder, without the replies that no row has any more.
// It lowers the bound to what is left.
func (l *List) Save(folder string) error {
	used := map[string]json.RawMessage{}
	for i := range l.Differences {
		d := &l.Differences[i]
		d.Count = 0
		maps.DeleteFunc(d.Rows, func(_ string, rows Rows) bool { return len(rows) == 0 })
		for _, rows := range d.Rows {
			d.Count += len(rows)
			for _, digest := range rows {
				used[digest] = json.RawMessage(l.replies[digest])
			}
		}
	}
	l.Differences = slices.DeleteFunc(append([]Difference{}, l.Differences...), func(d Difference) bool { return d.Count == 0 })
	l.Most = min(l.Most, l.unjustified())
	b, err := indented(l)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(folder, listFile), b, 0o644), os.WriteFile(filepath.Join(folder, repliesFile), lines(used), 0o644))
}

// indented is JSON for readers: of more than one line, and without escapes.
func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// lines writes replies as they are, one a line: their digests are of these bytes.
func lines(replies map[string]json.RawMessage) []byte {
	var b bytes.Buffer
	b.WriteString("{")
	for i, digest := range slices.Sorted(maps.Keys(replies)) {
		b.WriteString(map[bool]string{true: "\n", false: ",\n"}[i == 0])
		fmt.Fprintf(&b, "%q: %s", digest, replies[digest])
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}

// Fits returns an error when the list names a story or a step that does not exist.
// steps are the numbers of steps by the stories' names.
func (l *List) Fits(steps map[string]int) error {
	for _, d := range l.Differences {
		for story, rows := range d.Rows {
			for row := range rows {
				if row >= steps[story] {
					return fmt.Errorf("story %q has no step %d, which %q lists", story, row, d.Why)
				}
			}
		}
	}
	return nil
}
