package plugins_test

import (
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
)

// Three functions, with 0, 100 and 2 branches in them besides their beginnings.
func branches() *plugins.Branches {
	b := &plugins.Branches{}
	b.Begin([]int{3, 3, 103, 105}, func(function int) []any { return []any{function, "all"} })
	return b
}

// took are words of branches, asked for once.
func took(numbers ...int) func(from int) uint64 {
	words := map[int]uint64{}
	for _, n := range numbers {
		words[n/64*64] |= 1 << (n % 64)
	}
	return func(from int) uint64 {
		defer delete(words, from)
		return words[from]
	}
}

// What calls take is told once, and counted in the functions that they ran; what starting
// takes is not.
func TestBranchesAreToldAndCounted(t *testing.T) {
	b := branches()
	want := func(taken, all int, since ...int) {
		t.Helper()
		if got := b.Taken(); !slices.Equal(got, since) {
			t.Errorf("taken since are %v, want %v", got, since)
		}
		if got, of := b.Count(); got != taken || of != all {
			t.Errorf("counted %d of %d, want %d of %d", got, of, taken, all)
		}
	}
	want(0, 0)
	b.Read(took(0), true)
	want(0, 0)
	b.Read(took(0, 1, 3, 70, 102), false)
	want(4, 101, 1, 3, 70, 102)
	want(4, 101)
	b.Read(took(1, 3, 2, 104), false)
	want(6, 104, 1, 2, 3, 104)
	b.Forget()
	want(0, 0)
	if taken, all := (&plugins.Branches{}).Count(); taken+all > 0 {
		t.Errorf("nothing was begun, and counted %d of %d", taken, all)
	}
}

// Values are those of functions that calls run and starting does not, the last first.
func TestValuesOfBranches(t *testing.T) {
	b := branches()
	b.Read(took(0), true)
	b.Read(took(0, 1), false)
	if got := b.Values(); !slices.Equal(got, []any{1, "all"}) {
		t.Errorf("%v", got)
	}
	b.Read(took(2), false)
	if got := b.Values(); !slices.Equal(got, []any{2, "all", 1}) {
		t.Errorf("%v", got)
	}
	for branch, want := range map[int][]any{0: nil, 1: {1, "all"}, 2: {2, "all"}, 3: {1, "all"}, 102: {1, "all"}, 103: {2, "all"}, 104: {2, "all"}} {
		if got := b.Near(branch); !slices.Equal(got, want) {
			t.Errorf("near %d are %v, want %v", branch, got, want)
		}
	}
}

// Of many functions few values are told.
func TestValuesOfManyFunctions(t *testing.T) {
	const functions = 2000
	b := &plugins.Branches{}
	inside := make([]int, functions+1)
	for i := range inside {
		inside[i] = functions
	}
	asked := 0
	b.Begin(inside, func(function int) []any { asked++; return []any{function, -function} })
	b.Read(func(int) uint64 { return ^uint64(0) }, false)
	if got := b.Values(); len(got) != 512 || asked != 256 {
		t.Errorf("%d values of %d functions", len(got), asked)
	}
}
