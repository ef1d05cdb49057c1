// Package linear owns the linear memory of instances: where it is, how it
// grows, and that it can be put back to what it was when its instance was ready.
//
// It must not know the runtime, nor what is in the memory; plugins/wasm calls it.
//
// On Linux memory is a range of addresses as large as it may ever become. What
// was kept of it is a file in memory that all instances of a module share,
// mapped so that a page which an instance writes to becomes its own. The kernel
// tells which pages those are (/proc/self/pagemap), so putting memory back costs
// what a call touched and not what there is. Elsewhere, and where the kernel
// does not tell, everything is copied (plain.go).
package linear

import "errors"

// Memory is the linear memory of one instance. It is used by one goroutine at a
// time. After Free nobody may use what Reallocate returned.
type Memory interface {
	// Reallocate makes the memory size bytes long, and returns it; nil where it
	// cannot be, as it would be more than the most it was made for. What is new
	// is zero. After Restore has said so, it returns what was kept, whatever size.
	Reallocate(size uint64) []byte
	// Free gives the memory back.
	Free()
	// Keep remembers what is in the memory now. It is called once. When what
	// shared has is the same, the two are one. The error is ErrNoRoom where there is
	// no room for what is remembered.
	Keep(shared *Shared) error
	// Restore puts back what Keep remembered. It reports whether the memory had
	// grown: whoever uses it has to ask Reallocate for a page more, and gets its
	// former length. After an error the memory can only be freed.
	Restore() (grown bool, err error)
	// Resident is how many bytes it takes at most, what it shares with others
	// included: between calls the pages of its own, and what was kept. It is 0
	// after Free.
	Resident() int64
}

// Room is where memory is taken from for what is kept. It is safe for concurrent use.
type Room interface {
	// Take takes n bytes, or none.
	Take(n int) bool
	// Give gives n bytes back.
	Give(n int)
}

// ErrNoRoom tells that others have all the memory that there is.
var ErrNoRoom = errors.New("there is no room for what is kept of the memory")

// taken is what was taken from a room, which is nil for none.
type taken struct {
	room Room
	n    int
}

func take(room Room, n int) (taken, error) {
	if room != nil && !room.Take(n) {
		return taken{}, ErrNoRoom
	}
	return taken{room, n}, nil
}

func (t *taken) give() {
	if t.room != nil {
		t.room.Give(t.n)
	}
	*t = taken{}
}

var errNotKept = errors.New("nothing was kept of the memory")

// New makes memory that never has more than most bytes. It has none yet.
func New(most uint64) Memory {
	if m := newMapped(most); m != nil {
		return m
	}
	return newPlain(most)
}
