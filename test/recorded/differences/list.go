package differences

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// List is where a gateway answers otherwise. It is not safe for concurrent use.
type List struct {
	// Reasons are why; no request is listed for two of them.
	Reasons []*Reason
}

// Reason is one reason, and what it explains.
type Reason struct {
	Why string
	// Row is the row of the feature list by which ours departs, empty for none.
	Row string
	// Most bounds the requests of a reason without a row.
	Most int
	// Replies are the gateway's own, by the names of stories and by the headings of
	// requests.
	Replies map[string]map[string]string
}

// Own is the gateway's own reply to a request, and the reason for it.
type Own struct{ Why, Reply string }

// Load reads the list in a folder. It returns an error when the list contradicts
// itself, or holds more than it may, or less without having lowered the bound.
func Load(folder string) (*List, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil {
		return nil, err
	}
	l := &List{}
	for _, file := range files {
		r, err := load(file)
		if err == nil && filepath.Base(file) != r.file() {
			err = fmt.Errorf("its name should be %s", r.file())
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		l.Reasons = append(l.Reasons, r)
	}
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	return l, nil
}

// check looks for contradictions.
func (l *List) check() error {
	seen := map[[2]string]bool{}
	for _, r := range l.Reasons {
		for story, replies := range r.Replies {
			for heading := range replies {
				if seen[[2]string{story, heading}] {
					return fmt.Errorf("%s: %s is listed for two reasons", story, heading)
				}
				seen[[2]string{story, heading}] = true
			}
		}
		switch n := r.count(); {
		case n == 0:
			return fmt.Errorf("nothing is listed for %q", r.Why)
		case r.Row != "" && r.Most != 0:
			return fmt.Errorf("%q is justified by %s, and bounded", r.Why, r.Row)
		case r.Row == "" && n > r.Most:
			return fmt.Errorf("%d replies differ because %q, and no more than %d may: mend them, or name the row of the feature list that justifies the new ones", n, r.Why, r.Most)
		case r.Row == "" && n < r.Most:
			return fmt.Errorf("%d replies differ because %q: lower \"most\", which is %d, to that", n, r.Why, r.Most)
		}
	}
	return nil
}

// count is the number of the requests.
func (r *Reason) count() int {
	n := 0
	for _, replies := range r.Replies {
		n += len(replies)
	}
	return n
}

// file is the name of the file of a reason.
func (r *Reason) file() string {
	name := strings.Join(strings.FieldsFunc(strings.ToLower(r.Row+" "+r.Why), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}), "-")
	return name[:min(len(name), mostName)] + ".txt"
}

// mostName bounds the bytes of the name of a file.
const mostName = 100

// Of is what is listed of a request of a story.
func (l *List) Of(story, heading string) (own Own, listed bool) {
	for _, r := range l.Reasons {
		if reply, ok := r.Replies[story][heading]; ok {
			return Own{Why: r.Why, Reply: reply}, true
		}
	}
	return Own{}, false
}

// Justifying are the rows of the feature list that differences name.
func (l *List) Justifying() []string {
	var rows []string
	for _, r := range l.Reasons {
		if r.Row != "" {
			rows = append(rows, r.Row)
		}
	}
	return rows
}

// set gives a request another reply and, where it is new, a reason; "" takes it off.
func (l *List) set(story, heading, reply, why, row string) {
	for _, r := range l.Reasons {
		replies := r.Replies[story]
		if _, listed := replies[heading]; !listed {
			continue
		}
		if reply == "" {
			delete(replies, heading)
		} else {
			replies[heading] = reply
		}
		return
	}
	if reply == "" {
		return
	}
	i := slices.IndexFunc(l.Reasons, func(r *Reason) bool { return r.Why == why && r.Row == row })
	if i < 0 {
		i = len(l.Reasons)
		l.Reasons = append(l.Reasons, &Reason{Why: why, Row: row, Replies: map[string]map[string]string{}})
	}
	l.Reasons[i].add(story, heading, reply)
}

func (r *Reason) add(story, heading, reply string) {
	if r.Replies[story] == nil {
		r.Replies[story] = map[string]string{}
	}
	r.Replies[story][heading] = reply
}

// Save writes the list to a folder, where it was. It lowers the bounds to what is
// left.
func (l *List) Save(folder string) error {
	var failed []error
	for _, r := range l.Reasons {
		maps.DeleteFunc(r.Replies, func(_ string, replies map[string]string) bool { return len(replies) == 0 })
		r.Most = min(r.Most, r.count())
		failed = append(failed, r.save(folder))
	}
	l.Reasons = slices.DeleteFunc(slices.Clone(l.Reasons), func(r *Reason) bool { return r.count() == 0 })
	return errors.Join(failed...)
}

// Fits returns an error when the list names a request that a story does not make:
// headings are those it makes.
func (l *List) Fits(story string, headings []string) error {
	made := map[string]bool{}
	for _, heading := range headings {
		made[heading] = true
	}
	for _, r := range l.Reasons {
		for heading := range r.Replies[story] {
			if !made[heading] {
				return fmt.Errorf("story %q does not ask %s, which is listed because %q", story, heading, r.Why)
			}
		}
	}
	return nil
}

// Stories are the names of all stories that are listed.
func (l *List) Stories() []string {
	all := map[string]bool{}
	for _, r := range l.Reasons {
		for story := range r.Replies {
			all[story] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
