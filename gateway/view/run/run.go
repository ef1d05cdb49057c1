package run

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// Key says how the objects of runs are encoded, and what they were derived with.
// Two of the same key are the same bytes.
type Key struct {
	view.Key
	// memory is where runs are counted.
	memory *view.Memory
	// joined: not compressed.
	joined bool
}

// KeyOf is the key of runs of objects in an encoding, as they would be derived now.
func KeyOf(r *view.Renderer, in encoding.Encoding) Key {
	return Key{Key: r.KeyOf(in), memory: r.Memory()}
}

// run is a sequence of entries that was compressed, or that is joined when it is
// asked for again. It is remembered on the first of them, and names the others,
// which it does not keep.
type run struct {
	Key
	ids   []uint64
	piece Piece

	// used is when it was asked for last, taken that somebody joins it, and joined
	// what that gave, of which so many views were converted.
	used      atomic.Int64
	taken     atomic.Bool
	joined    atomic.Pointer[[]byte]
	converted int
}

// Size implements [view.Kept].
func (r *run) Size() int {
	n := fixedBytes + 8*len(r.ids) + r.piece.Size()
	if joined := r.joined.Load(); joined != nil {
		n += len(*joined)
	}
	return n
}

// Passing implements [view.Kept].
func (r *run) Passing() (asked time.Time, passing bool) {
	return r.asked(), r.Key.joined
}

const (
	// fixedBytes is about what a run costs besides its bytes.
	fixedBytes = 128
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
func begins(e *view.Entry) bool {
	const golden = 0x9e3779b97f4a7c15 // spreads consecutive numbers
	return e.ID()*golden>>32%runLength == 0
}

// Compressed divides entries into runs and returns each as a piece, made on all
// cores unless it is remembered. size is how large an encoded entry is, and
// encode appends those from one to before another.
func Compressed(entries []*view.Entry, in Key, size func(i int) int, encode func(dst []byte, from, to int) []byte) ([]Piece, error) {
	var starts []int
	for i, bytes := 0, 0; i < len(entries); i++ {
		if i == 0 || begins(entries[i]) || bytes >= runBytes {
			starts, bytes = append(starts, i), 0
		}
		bytes += size(i)
	}
	out := make([]Piece, len(starts))
	var due []int
	for n, from := range starts {
		if known := known(in, entries[from:until(starts, n, entries)]); known != nil {
			out[n] = known.piece
		} else {
			due = append(due, n)
		}
	}
	return out, view.Spread(len(due), func(i int) error {
		n := due[i]
		from, to := starts[n], until(starts, n, entries)
		length := 0
		for i := from; i < to; i++ {
			length += size(i)
		}
		out[n] = Compress(encode(make([]byte, 0, length), from, to))
		made := &run{Key: in, ids: identities(entries[from:to]), piece: out[n]}
		keep(entries[from], made)
		in.memory.Grew(made.Size())
		return nil
	})
}

// until is where run n ends.
func until(starts []int, n int, entries []*view.Entry) int {
	if n+1 < len(starts) {
		return starts[n+1]
	}
	return len(entries)
}

func identities(entries []*view.Entry) []uint64 {
	out := make([]uint64, len(entries))
	for i, e := range entries {
		out[i] = e.ID()
	}
	return out
}

// known is what is kept of entries with the first of them; nil if nothing is.
func known(in Key, entries []*view.Entry) *run {
	for _, kept := range entries[0].Kept() {
		if r, ok := kept.(*run); ok && r.Key == in && slices.EqualFunc(r.ids, entries, func(id uint64, e *view.Entry) bool { return id == e.ID() }) {
			return r
		}
	}
	return nil
}

// keep remembers a run with its first entry, and no more than maxRuns of the latest:
// of those that are joined, which are large, one in each encoding.
func keep(e *view.Entry, added *run) {
	e.Keep(func(before []view.Kept) []view.Kept {
		kept := append(make([]view.Kept, 0, maxRuns), added)
		for _, k := range before {
			if r, ok := k.(*run); len(kept) < maxRuns && !(ok && added.Key.joined && r.Key == added.Key) {
				kept = append(kept, k)
			}
		}
		return kept
	})
}
