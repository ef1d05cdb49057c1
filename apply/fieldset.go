package apply

import (
	"bytes"
	"sync"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
)

// fieldSet is what one entry owns: a set and its canonical JSON. It is
// immutable and shared by all objects that have the same.
type fieldSet struct {
	set *fieldpath.Set
	raw []byte
}

func (s *fieldSet) equal(t *fieldSet) bool { return s == t || bytes.Equal(s.raw, t.raw) }

const (
	// maxRemembered is how many bytes of JSON one generation of the cache
	// holds; the decoded sets take about ten times as much.
	maxRemembered = 2 << 20
	// maxRememberedSet is the longest JSON that is remembered at all.
	maxRememberedSet = 64 << 10
)

// fieldSets remembers sets by their JSON, whether canonical or not, in two
// generations: when the young one is full, the old one is forgotten, and what
// is still used comes back from it.
type fieldSets struct {
	mu    sync.RWMutex
	young map[string]*fieldSet
	old   map[string]*fieldSet
	bytes int
}

// sets is shared by all kinds: objects of different kinds have the same sets,
// too.
var sets = &fieldSets{}

// decode returns the set that raw, a fieldsV1 value, stands for.
func (c *fieldSets) decode(raw []byte) (*fieldSet, error) {
	if s := c.get(raw); s != nil {
		return s, nil
	}
	set, err := readSet(raw)
	if err != nil {
		return nil, err
	}
	s, err := c.of(set)
	if err != nil {
		return nil, err
	}
	c.put(raw, s)
	return s, nil
}

// of returns set, which must not be changed any more, with its JSON.
func (c *fieldSets) of(set *fieldpath.Set) (*fieldSet, error) {
	raw, err := appendSet(nil, set)
	if err != nil {
		return nil, err
	}
	if s := c.get(raw); s != nil {
		return s, nil
	}
	s := &fieldSet{set: set, raw: raw}
	c.put(raw, s)
	return s, nil
}

func (c *fieldSets) get(raw []byte) *fieldSet {
	c.mu.RLock()
	s, young := c.young[string(raw)]
	if !young {
		s = c.old[string(raw)]
	}
	c.mu.RUnlock()
	if s != nil && !young {
		c.put(raw, s)
	}
	return s
}

func (c *fieldSets) put(raw []byte, s *fieldSet) {
	if len(raw) > maxRememberedSet {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.young[string(raw)]; known {
		return
	}
	if c.young == nil || c.bytes+len(raw) > maxRemembered {
		c.young, c.old, c.bytes = map[string]*fieldSet{}, c.young, 0
	}
	c.young[string(raw)] = s
	c.bytes += len(raw)
}
