package differences

import (
	"fmt"
	"regexp"
	"sync"
)

// Comparison holds the replies of a server against a recording and a list. It is
// safe for concurrent use.
type Comparison struct {
	// External tells that the server is not a gateway, but one that has to
	// answer as is recorded, in listed rows too.
	External bool
	// Ignored matches the parts of replies that no attention is paid to, nil for none.
	Ignored *regexp.Regexp
	// Take has the list take over what differs from it, but for new rows.
	Take bool
	// Why and Row justify new rows, which are then taken too.
	Why, Row string

	mu      sync.Mutex
	list    *List
	changes []string
	rows    int
	found   []Found
}

// Found is a reply that differs from the recording, as it is written for who wants to mend it.
type Found struct {
	Story, Heading   string
	Request          any
	Recorded, Answer string
	Why              string
}

// NewComparison begins one with a list, which it changes where it takes something.
func NewComparison(list *List) *Comparison { return &Comparison{list: list} }

// Story returns an error when the list names requests of a story that it does not
// make: headings are those it makes.
func (c *Comparison) Story(story string, headings []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.list.Fits(story, headings)
}

// Reply compares the reply to a request of a story, which is named by its heading, with
// the recorded one. It returns an error that tells what is wrong with it.
func (c *Comparison) Reply(story, heading string, request any, recorded, answer string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows++
	own, listed := c.list.Of(story, heading)
	agrees := c.same(recorded, answer)
	if !agrees {
		c.found = append(c.found, Found{story, heading, request, recorded, answer, own.Why})
	}
	switch {
	case c.External || !listed:
		if agrees {
			return nil
		}
		if c.Take && c.Why != "" && !listed && !c.External {
			c.take(story, heading, recorded, answer, answer)
			return nil
		}
		return fmt.Errorf("is answered\n%s\nand should be\n%s", answer, recorded)
	case agrees:
		if c.Take {
			c.take(story, heading, own.Reply, answer, "")
			return nil
		}
		return fmt.Errorf("agrees with kube-apiserver by now: take it from the list (-differences.take)")
	case !c.same(own.Reply, answer):
		if c.Take {
			c.take(story, heading, own.Reply, answer, answer)
			return nil
		}
		return fmt.Errorf("is answered\n%s\nand was (%s)\n%s\nkube-apiserver's is\n%s\n(-differences.take takes it over)", answer, own.Why, own.Reply, recorded)
	}
	return nil
}

func (c *Comparison) same(a, b string) bool {
	if a != b && c.Ignored != nil {
		return c.Ignored.ReplaceAllString(a, "") == c.Ignored.ReplaceAllString(b, "")
	}
	return a == b
}

// take puts a reply into the list, none to take the row off, and tells what was and is.
func (c *Comparison) take(story, heading, was, is, own string) {
	c.list.set(story, heading, own, c.Why, c.Row)
	c.changes = append(c.changes, fmt.Sprintf("%s, %s\n--- %s\n+++ %s", story, heading, was, is))
}

// Changes tells what was taken, each with the reply before and the reply now.
func (c *Comparison) Changes() []string { return c.changes }

// Found are the replies that differ from the recording, and how many were compared.
func (c *Comparison) Found() (differ []Found, rows int) { return c.found, c.rows }

// Save writes the list to a folder.
func (c *Comparison) Save(folder string) error { return c.list.Save(folder) }
