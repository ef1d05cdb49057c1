package authn

import (
	"bytes"
	"crypto/sha256"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// lookEvery is how old what was read of a file may be. It is read again then, as
// the time of its last change would miss two changes that are close together.
const lookEvery = time.Second

// Following authenticates by what a file says now. While the file cannot be read,
// or says nothing that makes sense, what it said last counts.
type Following struct {
	path   string
	parse  func([]byte) (Authenticator, error)
	failed func(error)
	now    func() time.Time

	current atomic.Pointer[Authenticator]
	// next is when to look again, in nanoseconds since 1970.
	next atomic.Int64

	mu   sync.Mutex // held by whoever looks
	seen [sha256.Size]byte
	// trouble is what was told last.
	trouble string
}

// Follow reads a file, which has to make sense now. failed is told, once, when it
// no longer does, and with nil when it does again or has changed; it must not
// block. now tells the time; nil means the system's clock.
func Follow(path string, parse func([]byte) (Authenticator, error), failed func(error), now func() time.Time) (*Following, error) {
	if now == nil {
		now = time.Now
	}
	f := &Following{path: path, parse: parse, failed: failed, now: now}
	if _, err := f.look(); err != nil {
		return nil, err
	}
	f.next.Store(now().Add(lookEvery).UnixNano())
	return f, nil
}

// Authenticate implements [Authenticator].
func (f *Following) Authenticate(r Request) (*User, bool, error) {
	if f.now().UnixNano() >= f.next.Load() && f.mu.TryLock() {
		f.refresh()
		f.mu.Unlock()
	}
	return (*f.current.Load()).Authenticate(r)
}

// refresh looks and tells what is new.
func (f *Following) refresh() {
	changed, err := f.look()
	f.next.Store(f.now().Add(lookEvery).UnixNano())
	switch {
	case err != nil && err.Error() != f.trouble:
		f.trouble = err.Error()
		f.failed(err)
	case err == nil && (changed || f.trouble != ""):
		f.trouble = ""
		f.failed(nil)
	}
}

// look reads the file, and what it says if that is something else.
func (f *Following) look() (changed bool, err error) {
	data, err := os.ReadFile(f.path)
	if err != nil {
		return false, err
	}
	sum := sha256.Sum256(data)
	if f.current.Load() != nil && bytes.Equal(sum[:], f.seen[:]) {
		return false, nil
	}
	a, err := f.parse(data)
	if err != nil {
		return false, err
	}
	f.seen = sum
	f.current.Store(&a)
	return true, nil
}
