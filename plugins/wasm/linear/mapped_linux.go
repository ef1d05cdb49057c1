package linear

import (
	"bytes"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// step is by how much the part of the range grows that can be used.
	step = 1 << 20
	// maxOwn is how many pages of its own a memory keeps between calls: taking
	// one again costs the kernel more than putting it back does.
	maxOwn = 2048
	// patience is for how many calls a page of its own is kept that they do not
	// write to: looking at it so often costs about what taking it again does.
	patience = 12
)

var (
	pageSize = os.Getpagesize()
	zeroPage = make([]byte, pageSize)
)

// mapped is a range of addresses. What was kept is at its beginning.
type mapped struct {
	// all is the whole range; its first open bytes can be used, and size is how
	// much of that the instance has.
	all        []byte
	open, size uint64
	kept       *image // nil before Keep
	free       func() // frees that
	back       bool   // the next Reallocate shrinks it
	// clean is, by page, for how many calls in a row it was its own and not
	// written to.
	clean []uint8
	own   int // pages
	pages pages
}

// newMapped returns nil where the system does not let it.
func newMapped(most uint64) Memory {
	file, scans := pagemap()
	if most == 0 || file < 0 {
		return nil
	}
	// No page of it can be used yet, so it counts for no limit.
	all, err := unix.Mmap(-1, 0, int(roundUp(most, uint64(pageSize))), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil
	}
	return &mapped{all: all[:most:cap(all)], pages: pages{file: file, scans: scans}}
}

func roundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }

// Reallocate implements Memory.
func (m *mapped) Reallocate(size uint64) []byte {
	if m.back {
		m.back, size = false, m.kept.size()
	}
	if size > uint64(len(m.all)) {
		return nil
	}
	if size > m.open {
		open := min(roundUp(size, step), uint64(cap(m.all)))
		if unix.Mprotect(m.all[m.open:open], unix.PROT_READ|unix.PROT_WRITE) != nil {
			return nil
		}
		m.open = open
	}
	m.size = size
	return m.all[:size:size]
}

// Free implements Memory.
func (m *mapped) Free() {
	if m.all == nil {
		return
	}
	_ = unix.Munmap(m.all[:cap(m.all)])
	if m.kept != nil {
		m.free()
	}
	m.all, m.kept, m.size = nil, nil, 0
}

// Keep implements Memory.
func (m *mapped) Keep(shared *Shared) (err error) {
	if m.kept, m.free, err = shared.keep(m.all[:m.size]); err != nil {
		return err
	}
	if m.size > 0 {
		_, err = unix.MmapPtr(m.kept.file, 0, unsafe.Pointer(unsafe.SliceData(m.all)), uintptr(m.size),
			unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
	}
	if err != nil {
		return fmt.Errorf("map what was kept of the memory: %w", err)
	}
	return nil
}

// Restore implements Memory.
func (m *mapped) Restore() (grown bool, err error) {
	if m.kept == nil {
		return false, errNotKept
	}
	if pages := int(m.open) / pageSize; len(m.clean) < pages {
		m.clean = append(m.clean, make([]uint8, pages-len(m.clean))...)
	}
	spans, err := m.pages.own(m.all[:cap(m.all)][:m.open])
	if err != nil {
		return false, err
	}
	m.own = 0
	for _, s := range spans {
		if err := m.putBack(int(s.from)/pageSize, int(s.to)/pageSize); err != nil {
			return false, err
		}
	}
	m.back = m.size != m.kept.size()
	return m.back, nil
}

// putBack puts some pages of its own back, and gives up what is not worth keeping.
func (m *mapped) putBack(from, to int) error {
	dropped := from // those from here on are to be given up
	for page := from; page < to; page++ {
		if m.own == maxOwn || !m.restore(page) {
			m.clean[page] = 0
			continue
		}
		m.own++
		if err := m.drop(dropped, page); err != nil {
			return err
		}
		dropped = page + 1
	}
	return m.drop(dropped, to)
}

// restore puts a page of its own back, and reports whether that is worth more
// than giving it up.
func (m *mapped) restore(page int) bool {
	now, was := m.all[:cap(m.all)][page*pageSize:][:pageSize], m.kept.page(page)
	if !bytes.Equal(now, was) {
		copy(now, was)
		m.clean[page] = 0
		return true
	}
	m.clean[page]++
	return m.clean[page] < patience
}

// drop gives pages up: the next look at them finds what was kept.
func (m *mapped) drop(from, to int) error {
	if from == to {
		return nil
	}
	if err := unix.Madvise(m.all[:cap(m.all)][from*pageSize:to*pageSize], unix.MADV_DONTNEED); err != nil {
		return fmt.Errorf("put the memory back: %w", err)
	}
	return nil
}

// Resident implements Memory.
func (m *mapped) Resident() int64 {
	if m.kept == nil {
		return int64(m.size)
	}
	return int64(m.own*pageSize) + int64(m.kept.size())
}
