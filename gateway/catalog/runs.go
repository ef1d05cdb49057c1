package catalog

import (
	"slices"
	"sync/atomic"

	"github.com/wasmgate/wasmgate/gateway/deflate"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// RunKey says how the objects of runs are encoded, and what they were derived with.
// Two of the same key are the same bytes.
type RunKey struct {
	viewKey
	// memory is where runs are counted.
	memory *memory
	// joined: not compressed.
	joined bool
}

// RunKey is the key of runs of objects in an encoding, as they would be derived now.
func (r *Resource) RunKey(in encoding.Encoding) RunKey {
	return RunKey{viewKey: r.key(in), memory: r.memory}
}

// run is a sequence of entries that was compressed, or that is joined when it is
// asked for again. It is remembered on the first of them, and names the others,
// which it does not keep.
type run struct {
	RunKey
	ids   []uint64
	piece deflate.Piece

	// used is when it was asked for last, taken that somebody joins it, and joined
	// what that gave, of which so many views were converted.
	used      atomic.Int64
	taken     atomic.Bool
	joined    atomic.Pointer[[]byte]
	converted int
}

// size is about how many bytes of memory the run takes.
func (r *run) size() int {
	n := fixedBytes + 8*len(r.ids) + r.piece.Size()
	if joined := r.joined.Load(); joined != nil {
		n += len(*joined)
	}
	return n
}

// runNode is a list of runs. It is replaced, never changed.
type runNode struct {
	*run
	next *runNode
}

const (
	// maxRuns is how many runs one entry remembers: of lists of all, of a
	// selection, in another encoding.
	maxRuns = 4
	// runLength is how many entries are compressed together, about. Which of
	// them begins a run is decided by the entry alone, so that a change of one
	// spoils no more than its own run.
	runLength = 64
	// runBytes is how many bytes are compressed together, at most but for the
	// last object.
	runBytes = 256 << 10
)

// begins tells that e begins a run wherever it is listed.
func (e *Entry) begins() bool {
	const golden = 0x9e3779b97f4a7c15 // spreads consecutive numbers
	return e.id*golden>>32%runLength == 0
}

// Compressed divides entries into runs and returns each as a piece, made on all
// cores unless it is remembered. size is how large an encoded entry is, and
// encode appends those from one to before another.
func Compressed(entries []*Entry, in RunKey, size func(i int) int, encode func(dst []byte, from, to int) []byte) ([]deflate.Piece, error) {
	var starts []int
	for i, bytes := 0, 0; i < len(entries); i++ {
		if i == 0 || entries[i].begins() || bytes >= runBytes {
			starts, bytes = append(starts, i), 0
		}
		bytes += size(i)
	}
	out := make([]deflate.Piece, len(starts))
	var due []int
	for n, from := range starts {
		if known := entries[from].run(in, entries[from:until(starts, n, entries)]); known != nil {
			out[n] = known.piece
		} else {
			due = append(due, n)
		}
	}
	return out, spread(len(due), func(i int) error {
		n := due[i]
		from, to := starts[n], until(starts, n, entries)
		length := 0
		for i := from; i < to; i++ {
			length += size(i)
		}
		out[n] = deflate.Compress(encode(make([]byte, 0, length), from, to))
		made := &run{RunKey: in, ids: identities(entries[from:to]), piece: out[n]}
		entries[from].addRun(made)
		in.memory.grew(made.size())
		return nil
	})
}

// until is where run n ends.
func until(starts []int, n int, entries []*Entry) int {
	if n+1 < len(starts) {
		return starts[n+1]
	}
	return len(entries)
}

func identities(entries []*Entry) []uint64 {
	out := make([]uint64, len(entries))
	for i, e := range entries {
		out[i] = e.id
	}
	return out
}

// run is what e remembers of entries, of which it is the first.
func (e *Entry) run(in RunKey, entries []*Entry) *run {
	for n := e.runs.Load(); n != nil; n = n.next {
		if n.RunKey == in && slices.EqualFunc(n.ids, entries, func(id uint64, e *Entry) bool { return id == e.id }) {
			return n.run
		}
	}
	return nil
}

// addRun remembers a run, and no more than maxRuns of the latest: of those that
// are joined, which are large, one in each encoding.
func (e *Entry) addRun(added *run) {
	for {
		head := e.runs.Load()
		kept := []*run{added}
		for n := head; n != nil && len(kept) < maxRuns; n = n.next {
			if !added.RunKey.joined || n.RunKey != added.RunKey {
				kept = append(kept, n.run)
			}
		}
		if e.runs.CompareAndSwap(head, listed(kept)) {
			return
		}
	}
}

func listed(kept []*run) (head *runNode) {
	for _, r := range slices.Backward(kept) {
		head = &runNode{r, head}
	}
	return head
}
