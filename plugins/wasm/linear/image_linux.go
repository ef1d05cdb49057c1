package linear

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// Shared is what the instances of a module have in common: what their memory was
// when they were ready, which is the same for all where nothing but the module
// decides it. It goes with the last of them. The zero value has nothing. It is
// safe for concurrent use.
type Shared struct {
	// Room is where images are taken from, nil for anywhere.
	Room Room

	mu    sync.Mutex
	image *image // guarded by mu
	users int    // guarded by mu
}

// keep returns an image of memory, and what frees it.
func (s *Shared) keep(memory []byte) (i *image, free func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.image == nil || !s.image.is(memory) {
		if i, err = newImage(memory, s.Room); err != nil {
			return nil, nil, err
		}
		if s.image != nil {
			return i, i.close, nil
		}
		s.image = i
	}
	s.users++
	return s.image, s.leave, nil
}

func (s *Shared) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users == 0 {
		s.image.close()
		s.image = nil
	}
}

// image is a file in memory that nobody can change.
type image struct {
	file int
	view []byte // its content; reading only
	// held are, by page, those that are not zero: others take memory as soon as
	// somebody looks at them.
	held []bool
	// room is what those are taken from.
	room taken
}

// newImage makes an image, of what there is room for; memory is some whole pages, or
// empty.
func newImage(memory []byte, room Room) (*image, error) {
	size := 0
	for page := range slices.Chunk(memory, pageSize) {
		if !bytes.Equal(page, zeroPage) {
			size += pageSize
		}
	}
	from, err := take(room, size)
	if err != nil {
		return nil, err
	}
	file, err := unix.MemfdCreate("wasmgate-memory", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		from.give()
		return nil, fmt.Errorf("keep the memory: %w", err)
	}
	i := &image{file: file, room: from}
	if err := i.fill(memory); err != nil {
		i.close()
		return nil, fmt.Errorf("keep the memory: %w", err)
	}
	return i, nil
}

func (i *image) fill(memory []byte) error {
	if err := unix.Ftruncate(i.file, int64(len(memory))); err != nil {
		return err
	}
	for at := 0; at < len(memory); at += pageSize {
		page := memory[at : at+pageSize]
		i.held = append(i.held, !bytes.Equal(page, zeroPage))
		if !i.held[len(i.held)-1] {
			continue
		}
		if n, err := unix.Pwrite(i.file, page, int64(at)); err != nil {
			return err
		} else if n < len(page) {
			return os.ErrInvalid
		}
	}
	if _, err := unix.FcntlInt(uintptr(i.file), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE); err != nil {
		return err
	}
	if len(memory) == 0 {
		return nil
	}
	var err error
	// Private, though it is only read: before Linux 6.7 a file that is sealed
	// against writes cannot be mapped shared.
	i.view, err = unix.Mmap(i.file, 0, len(memory), unix.PROT_READ, unix.MAP_PRIVATE)
	return err
}

// page is the content of a page; beyond the end all are zero.
func (i *image) page(n int) []byte {
	if n >= len(i.held) || !i.held[n] {
		return zeroPage
	}
	return i.view[n*pageSize:][:pageSize]
}

// is reports whether memory has the same content.
func (i *image) is(memory []byte) bool {
	if len(memory) != len(i.view) {
		return false
	}
	for n := range i.held {
		if !bytes.Equal(memory[n*pageSize:][:pageSize], i.page(n)) {
			return false
		}
	}
	return true
}

func (i *image) size() uint64 { return uint64(len(i.view)) }

func (i *image) close() {
	_ = unix.Munmap(i.view) // an error where there is none
	_ = unix.Close(i.file)
	i.room.give()
}
