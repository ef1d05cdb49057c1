package merge

import "slices"

// Merge puts config over live, both valid; config has no duplicates. Fields are
// never removed. Lists that are sets or maps keep the order of live, as far as
// config has no order of its own. The result is live itself where config
// changes nothing, and shares memory with both.
func (t *Type) Merge(live, config any) any {
	switch t.form(config) {
	case asList:
		a, _ := live.([]any)
		b, _ := config.([]any)
		if !t.list.atomic && len(a)+len(b) > 0 {
			return t.list.merge(live, a, b)
		}
	case asObject:
		a, _ := live.(map[string]any)
		b, _ := config.(map[string]any)
		if !t.object.atomic && len(a)+len(b) > 0 {
			return t.object.merge(live, a, b)
		}
	}
	if equal(live, config, true) {
		return live
	}
	return config
}

// merge merges the fields of two objects, of which one has some. The first is
// what was there: an object, or something else that gives way.
func (o *objectType) merge(was any, a, b map[string]any) any {
	if len(a) == 0 {
		return b
	}
	var out map[string]any
	for name, v := range b {
		old, had := a[name]
		if had {
			if v = o.typeOf(name).Merge(old, v); same(old, v) {
				continue
			}
		}
		if out == nil {
			out = make(map[string]any, len(a)+len(b))
			for name, v := range a {
				out[name] = v
			}
		}
		out[name] = v
	}
	if out == nil {
		return was
	}
	return out
}

// merge merges the items of two lists, of which one has some. Shared items come
// in the order of b, the others stay between them where they were.
func (l *listType) merge(was any, a, b []any) any {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return was
	}
	out, aligned := l.mergeAligned(a, b)
	if !aligned {
		m := merger{list: l, a: a, b: b, out: make([]any, 0, max(len(a), len(b)))}
		m.run()
		out = m.out
	}
	if slices.EqualFunc(a, out, same) {
		return was
	}
	return out
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
		out[i] = l.element.Merge(a[i], b[i])
	}
	return out, true
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
	v := m.b[j]
	if i := m.inA[j]; i >= 0 && !m.dupA[j] {
		v = m.list.element.Merge(m.a[i], v)
	}
	m.out = append(m.out, v)
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
