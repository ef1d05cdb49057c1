package plugins

import (
	"math/bits"
	"slices"
	"sync"
)

// Branches are told which branches of a module its calls take, where somebody tries it;
// what serves is loaded without. They are safe for concurrent use.
type Branches struct {
	mu sync.Mutex
	// inside is where the numbers of the branches in each function begin, and where
	// they end; those of their beginnings are before. values finds what a function
	// compares with.
	inside []int
	values func(function int) []any
	found  map[int][]any // by function
	// begun are the functions that starting runs. Of the branches in others ever are
	// those of all calls, and since those after somebody asked.
	begun, ever, since set
}

// set is a set of small numbers.
type set []uint64

func (s set) has(n int) bool { return s[n/64]>>(n%64)&1 != 0 }

// each calls fn with each number.
func (s set) each(fn func(n int)) {
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			fn(i*64 + bits.TrailingZeros64(word))
		}
	}
}

// Begin forgets everything, and says what code there is.
func (b *Branches) Begin(inside []int, values func(function int) []any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	words := (inside[len(inside)-1] + 63) / 64
	b.inside, b.values, b.found = inside, values, map[int][]any{}
	b.begun, b.ever, b.since = make(set, words), make(set, words), make(set, words)
}

// Forget forgets what calls took.
func (b *Branches) Forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.ever)
	clear(b.since)
}

// Read asks for those that were taken, 64 at a time: word returns those from a number
// on, and forgets them. started says that no call of a hook took them. Inside of what
// starting runs, the runtime of a language above all, nobody looks.
func (b *Branches) Read(word func(from int) uint64, started bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	functions := len(b.inside) - 1
	entered := make(set, (functions+63)/64)
	for i := range entered {
		if entered[i] = word(i * 64); started {
			b.begun[i] |= entered[i]
			continue
		}
		entered[i] &^= b.begun[i]
		b.take(i, entered[i])
	}
	if started {
		return
	}
	next := len(entered) // what is before was read
	entered.each(func(f int) {
		if f >= functions {
			return
		}
		for next = max(next, b.inside[f]/64); next*64 < b.inside[f+1]; next++ {
			b.take(next, word(next*64))
		}
	})
}

func (b *Branches) take(at int, word uint64) {
	b.ever[at] |= word
	b.since[at] |= word
}

// Taken are the numbers of those that calls took since it was last asked.
func (b *Branches) Taken() (all []int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.since.each(func(n int) { all = append(all, n) })
	clear(b.since)
	return all
}

// Count is how many calls ever took, of all that there are in the functions that they
// ran and that starting does not: of the language's runtime there is little in them.
func (b *Branches) Count() (taken, all int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for f := range max(len(b.inside)-1, 0) {
		if !b.ever.has(f) || b.begun.has(f) {
			continue
		}
		taken, all = taken+1, all+1+b.inside[f+1]-b.inside[f]
		for n := b.inside[f]; n < b.inside[f+1]; n++ {
			if b.ever.has(n) {
				taken++
			}
		}
	}
	return taken, all
}

// maxTold is about how many values are told of all functions.
const maxTold = 512

// Values are texts and numbers that the functions compare with which calls run and
// starting does not, those of the last function first: compilers put libraries before
// what uses them.
func (b *Branches) Values() (all []any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := map[any]bool{}
	for f := len(b.inside) - 2; f >= 0 && len(all) < maxTold; f-- {
		if !b.ever.has(f) {
			continue
		}
		for _, v := range b.of(f) {
			if !known[v] {
				known[v] = true
				all = append(all, v)
			}
		}
	}
	return all
}

// Near are those of the function that has a branch.
func (b *Branches) Near(branch int) []any {
	b.mu.Lock()
	defer b.mu.Unlock()
	functions := len(b.inside) - 1
	if branch >= functions {
		branch, _ = slices.BinarySearch(b.inside, branch+1)
		branch--
	}
	return b.of(branch)
}

// of are the values of a function.
func (b *Branches) of(function int) []any {
	if b.begun.has(function) {
		return nil
	}
	if _, looked := b.found[function]; !looked {
		b.found[function] = b.values(function)
	}
	return b.found[function]
}
