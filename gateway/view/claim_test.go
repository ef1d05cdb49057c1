package view

import (
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/storage"
)

// Who waits for others' derivations waits once for each of them; who waited in vain makes
// everything alone, and each entry once.
func TestClaimsOfDerivations(t *testing.T) {
	entry := func() *Entry { return NewEntry(storage.KV{Value: []byte(sorted), Revision: 7}) }
	flying := func() *flight { return &flight{done: make(chan struct{}), waiting: 1} }
	for alone, want := range map[bool][]int{false: {2}, true: {0, 1, 2}} {
		first, second, third := entry(), entry(), entry()
		theirs := flying()
		first.board(theirs)
		second.board(theirs)
		jobs := []job{{entry: first}, {entry: second}, {entry: third}, {entry: third}}
		mine, others, joined := claim(jobs, []int{0, 1, 2, 3}, flying(), alone)
		if !slices.Equal(mine, want) {
			t.Errorf("alone %t: %v are claimed", alone, mine)
		}
		if !alone && (len(joined) != 1 || joined[0] != theirs || others[theirs] != 2 || theirs.waiting != 2) || alone && len(joined) > 0 {
			t.Errorf("alone %t: %d are joined, of %v", alone, len(joined), others)
		}
	}
}
