package rbac

import (
	"hash/maphash"
	"maps"
	"slices"
)

// table is values by name of which a copy with changes costs little: names are divided
// by their hash, and a copy shares what has none that changed. It is immutable.
type table[T any] struct {
	parts []map[string]*T // a power of two of them, or none
	n     int
}

// partSize is about how many names a part has: it is what a change copies.
const partSize = 32

var seed = maphash.MakeSeed()

func (t *table[T]) part(name string) int {
	if len(t.parts) == 1 {
		return 0
	}
	return int(maphash.String(seed, name) & uint64(len(t.parts)-1))
}

// get returns nil for a name that is not there.
func (t *table[T]) get(name string) *T {
	if len(t.parts) == 0 {
		return nil
	}
	return t.parts[t.part(name)][name]
}

// joined is get for a name that was put together, without making a string of it.
func (t *table[T]) joined(name []byte) *T {
	switch len(t.parts) {
	case 0:
		return nil
	case 1:
		return t.parts[0][string(name)]
	}
	return t.parts[maphash.Bytes(seed, name)&uint64(len(t.parts)-1)][string(name)]
}

// with is the table with these values in place of its own; nil takes a name away.
func (t table[T]) with(changed map[string]*T) table[T] {
	if len(changed) == 0 {
		return t
	}
	next := table[T]{slices.Clone(t.parts), t.n}
	own := make([]bool, len(t.parts))
	if most := t.n + len(changed); most > 2*partSize*len(t.parts) {
		next, own = t.divided(most), nil
	}
	for name, v := range changed {
		i := next.part(name)
		if own != nil && !own[i] {
			next.parts[i], own[i] = maps.Clone(next.parts[i]), true
		}
		before := len(next.parts[i])
		if v == nil {
			delete(next.parts[i], name)
		} else {
			next.parts[i][name] = v
		}
		next.n += len(next.parts[i]) - before
	}
	return next
}

// divided is the table in parts for so many names.
func (t table[T]) divided(most int) table[T] {
	n := 1
	for n*partSize < most {
		n *= 2
	}
	next := table[T]{make([]map[string]*T, n), t.n}
	for i := range next.parts {
		next.parts[i] = map[string]*T{}
	}
	for _, part := range t.parts {
		for name, v := range part {
			next.parts[next.part(name)][name] = v
		}
	}
	return next
}
