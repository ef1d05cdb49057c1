package authn

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// lookEvery is how old what was read of a file may be. It is read again then, as
// the time of its last change would miss two changes that are close together.
const lookEvery = time.Second

// Following authenticates by what a file says now. While the file cannot be read,
// is being written, or says nothing that makes sense, what it said last counts.
type Following struct {
	path   string
	parse  func([]byte) (Authenticator, error)
	failed func(error)
	now    func() time.Time

	current atomic.Pointer[Authenticator]
	// next is when to look again, as time since begun: a system clock that is set
	// back puts nothing off.
	next  atomic.Int64
	begun time.Time

	mu   sync.Mutex // held by whoever looks
	seen [sha256.Size]byte
	// trouble is what was told last.
	trouble string
}

// Follow reads a file, which has to make sense now. failed is told, once, when it
// no longer does, and with nil when it does again or has changed; it must not
// block. now tells the time; nil means the system's clock. What is no regular file,
// such as a pipe, can be read once, and does not change.
func Follow(path string, parse func([]byte) (Authenticator, error), failed func(error), now func() time.Time) (*Following, error) {
	if now == nil {
		now = time.Now
	}
	f := &Following{path: path, parse: parse, failed: failed, now: now, begun: now()}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if _, err := f.read(); err != nil {
		return nil, err
	}
	f.lookLater()
	if !info.Mode().IsRegular() {
		f.next.Store(math.MaxInt64)
	}
	return f, nil
}

// Authenticate implements [Authenticator].
func (f *Following) Authenticate(ctx context.Context, r Request) (*User, bool, error) {
	if int64(f.now().Sub(f.begun)) >= f.next.Load() && f.mu.TryLock() {
		f.refresh()
		f.mu.Unlock()
	}
	return (*f.current.Load()).Authenticate(ctx, r)
}

// refresh looks and tells what is new.
func (f *Following) refresh() {
	whole, err := f.stable()
	changed := false
	if whole {
		changed, err = f.read()
	}
	f.lookLater()
	switch {
	case err == nil && !whole:
	case err != nil && err.Error() != f.trouble:
		f.trouble = err.Error()
		f.failed(err)
	case err == nil && (changed || f.trouble != ""):
		f.trouble = ""
		f.failed(nil)
	}
}

func (f *Following) lookLater() { f.next.Store(int64(f.now().Sub(f.begun) + lookEvery)) }

// stable reports whether the file was last written some time ago. Else it may not
// be whole yet.
func (f *Following) stable() (bool, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, fmt.Errorf("%s is no regular file any more", f.path)
	}
	age := f.now().Sub(info.ModTime())
	return age < 0 || age >= lookEvery, nil
}

// read reads the file, and what it says if that is something else.
func (f *Following) read() (changed bool, err error) {
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
