package tree

// Merge puts config over live, both valid; config has no duplicates. Fields are
// never removed. Lists that are sets or maps keep the order of live, as far as
// config has no order of its own. The result is live itself where config
// changes nothing, and shares memory with both.
func (t *Type) Merge(live, config any) any {
	out, _ := t.merge(side{live, true}, side{config, true})
	return out
}

// merge is the merged value; ok is false for none.
func (t *Type) merge(a, b side) (out any, ok bool) {
	switch {
	case !b.ok:
		return a.v, a.ok
	case !a.ok:
		return b.v, true
	}
	switch t.form(b.v) {
	case asList:
		x, _ := a.v.([]any)
		y, _ := b.v.([]any)
		if t.list.atomic || len(x) == 0 && len(y) == 0 {
			break
		}
		return t.list.merge(a.v, x, y)
	case asObject:
		x, _ := a.v.(map[string]any)
		y, _ := b.v.(map[string]any)
		if t.object.atomic || len(x) == 0 && len(y) == 0 {
			break
		}
		return t.object.merge(a.v, x, y)
	}
	if equal(a.v, b.v, true) {
		return a.v, true
	}
	return b.v, true
}

// merge merges the fields of two objects, of which one has some. The first is
// what was there: an object, or something else that gives way.
func (o *objectType) merge(was any, a, b map[string]any) (any, bool) {
	if len(a) == 0 {
		return b, true
	}
	var out map[string]any
	for name, v := range b {
		old, had := a[name]
		merged, _ := o.typeOf(name).merge(side{old, had}, side{v, true})
		if had && same(old, merged) {
			continue
		}
		if out == nil {
			out = make(map[string]any, len(a)+len(b))
			for name, v := range a {
				out[name] = v
			}
		}
		out[name] = merged
	}
	if out == nil {
		return was, true
	}
	return out, true
}

// merge merges the items of two lists, of which one has some. Shared items come
// in the order of b, the others stay between them where they were.
func (l *listType) merge(was any, a, b []any) (any, bool) {
	if len(a) == 0 {
		return b, true
	}
	if len(b) == 0 {
		return was, true
	}
	if out, aligned := l.mergeAligned(a, b); aligned {
		if sameItems(out, a) {
			return was, true
		}
		return out, true
	}
	m := merger{list: l, a: a, b: b, out: make([]any, 0, max(len(a), len(b)))}
	m.run()
	if sameItems(m.out, a) {
		return was, true
	}
	return m.out, true
}

// mergeAligned merges lists that have the same items in the same order, which
// they usually do; else it says no.
func (l *listType) mergeAligned(a, b []any) ([]any, bool) {
	if len(a) != len(b) {
		return nil, false
	}
	var buf []byte
	for i := range a {
		if !l.sameItem(a[i], b[i], &buf) {
			return nil, false
		}
	}
	out := make([]any, len(a))
	for i := range a {
		out[i], _ = l.element.merge(side{a[i], true}, side{b[i], true})
	}
	return out, true
}

func sameItems(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !same(a[i], b[i]) {
			return false
		}
	}
	return true
}

// merger merges two lists.
type merger struct {
	list *listType
	a, b []any
	out  []any

	inB    []int // the index in b of each item of a, or -1
	inA    []int // the index in a of each item of b, or -1
	dupA   []bool
	merged []bool // which items of b are done
	// shared is the next item of b that is in a, too.
	shared int
}

func (m *merger) prepare() {
	x, y := m.list.index(m.a), m.list.index(m.b)
	m.inB, m.inA = make([]int, len(m.a)), make([]int, len(m.b))
	m.dupA, m.merged = make([]bool, len(m.b)), make([]bool, len(m.b))
	for i, item := range m.a {
		m.inB[i] = y.find(item)
	}
	for j, item := range m.b {
		if m.inA[j] = x.find(item); m.inA[j] >= 0 {
			m.dupA[j] = x.times[m.inA[j]] > 1
		}
	}
	m.shared = -1
	m.nextShared()
}

// nextShared moves on to the next shared item of b, len(b) for none.
func (m *merger) nextShared() {
	for m.shared++; m.shared < len(m.b) && m.inA[m.shared] < 0; m.shared++ {
	}
}

// take adds item j of b, merged with the one of a. What a has several times is
// replaced.
func (m *merger) take(j int) {
	m.merged[j] = true
	old := side{}
	if i := m.inA[j]; i >= 0 && !m.dupA[j] {
		old = side{m.a[i], true}
	}
	if v, ok := m.list.element.merge(old, side{m.b[j], true}); ok {
		m.out = append(m.out, v)
	}
}

func (m *merger) run() {
	m.prepare()
	for i, j := 0, 0; i < len(m.a) || j < len(m.b); {
		if i < len(m.a) && j < len(m.b) {
			if m.inB[i] == j {
				m.take(j)
				i, j = i+1, j+1
				m.nextShared()
				continue
			}
			if m.inB[i] >= 0 && m.shared < len(m.b) && m.inB[i] != m.shared {
				i++ // shared, but not its turn
				continue
			}
		}
		if i < len(m.a) {
			if m.inB[i] < 0 {
				m.out = append(m.out, m.a[i])
				i++
				continue
			}
			if m.merged[m.inB[i]] {
				i++
			}
		}
		if j < len(m.b) {
			m.take(j)
			if m.shared == j {
				m.nextShared()
			}
			j++
		}
	}
}
