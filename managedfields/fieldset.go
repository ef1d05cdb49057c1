package managedfields

import (
	"bytes"
	"encoding/json"
	"reflect"
	"sync"
	"sync/atomic"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/wasmgate/wasmgate/managedfields/merge"
)

// fieldSet is what one entry owns: a set and its canonical JSON. It is
// immutable and shared by all objects that have the same.
type fieldSet struct {
	set *fieldpath.Set
	raw []byte
	// last is the type that the set was last brought into agreement with.
	last atomic.Pointer[reconciled]
	// held is the type that was last asked whether it holds what is below.
	held atomic.Pointer[held]
}

// held is what a type says of the places in a set.
type held struct {
	by *merge.Type
	is bool
}

// holds remembers what [tree.Type.Holds] says of the set.
func (s *fieldSet) holds(t *merge.Type) bool {
	h := s.held.Load()
	if h == nil || h.by != t {
		h = &held{t, t.Holds(s.set)}
		s.held.Store(h)
	}
	return h.is
}

// reconciled is what a set is by a type.
type reconciled struct {
	by     *merge.Type
	fields *fieldSet
}

func (s *fieldSet) empty() bool { return s.set.Empty() }

// reconcile is the set in agreement with a type.
func (s *fieldSet) reconcile(t *merge.Type) (*fieldSet, error) {
	if r := s.last.Load(); r != nil && r.by == t {
		return r.fields, nil
	}
	out := s
	if set := t.Reconcile(s.set); set != s.set {
		var err error
		if out, err = sets.of(set); err != nil {
			return nil, err
		}
	}
	s.last.Store(&reconciled{t, out})
	return out, nil
}

func (s *fieldSet) equal(t *fieldSet) bool { return s == t || bytes.Equal(s.raw, t.raw) }

const (
	// maxRemembered is how many bytes of JSON one generation of the cache
	// holds; the decoded sets take about ten times as much.
	maxRemembered = 2 << 20
	// longSet is from how many bytes on a set is remembered among others of that length,
	// in generations of their own, so that short ones outlive it. maxRememberedSet is the
	// longest JSON that is remembered at all.
	longSet          = 64 << 10
	maxRememberedSet = 1 << 20
)

// fieldSets remembers sets by their JSON, whether canonical or not, in two
// generations: when the young one is full, the old one is forgotten, and what
// is still used comes back from it.
type fieldSets struct {
	long  *fieldSets // of sets from longSet on; nil in there
	mu    sync.RWMutex
	young map[string]remembered
	old   map[string]remembered
	bytes int
}

// remembered is what some JSON stands for.
type remembered struct {
	*fieldSet
	// altered: it is not what the JSON says, as with numbers that no float is.
	altered bool
}

// sets is shared by all kinds: objects of different kinds have the same sets,
// too.
var sets = &fieldSets{long: &fieldSets{}}

// decode returns the set that raw, a fieldsV1 value, stands for.
func (c *fieldSets) decode(raw []byte) (remembered, error) {
	if r := c.get(raw); r.fieldSet != nil {
		return r, nil
	}
	set, err := readSet(raw)
	if err != nil {
		return remembered{}, err
	}
	s, err := c.of(set)
	if err != nil {
		return remembered{}, err
	}
	r := remembered{s, !bytes.Equal(raw, s.raw) && !sameJSON(raw, s.raw)}
	c.put(raw, r)
	return r, nil
}

// of returns set, which must not be changed any more, with its JSON.
func (c *fieldSets) of(set *fieldpath.Set) (*fieldSet, error) {
	raw, exact, err := encodeSet(set)
	if err != nil {
		return nil, err
	}
	if !exact {
		return &fieldSet{set: set, raw: raw}, nil
	}
	if r := c.get(raw); r.fieldSet != nil {
		return r.fieldSet, nil
	}
	s := &fieldSet{set: set, raw: raw}
	c.put(raw, remembered{fieldSet: s})
	return s, nil
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func (c *fieldSets) get(raw []byte) remembered {
	if c.long != nil && len(raw) > longSet {
		return c.long.get(raw)
	}
	c.mu.RLock()
	r, young := c.young[string(raw)]
	if !young {
		r = c.old[string(raw)]
	}
	c.mu.RUnlock()
	if r.fieldSet != nil && !young {
		c.put(raw, r)
	}
	return r
}

func (c *fieldSets) put(raw []byte, r remembered) {
	if len(raw) > maxRememberedSet {
		return
	}
	if c.long != nil && len(raw) > longSet {
		c.long.put(raw, r)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.young[string(raw)]; known {
		return
	}
	if c.young == nil || c.bytes+len(raw) > maxRemembered {
		c.young, c.old, c.bytes = map[string]remembered{}, c.young, 0
	}
	c.young[string(raw)] = r
	c.bytes += len(raw)
}
