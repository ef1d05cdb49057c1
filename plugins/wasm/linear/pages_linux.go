package linear

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What the kernel says of a page, Documentation/admin-guide/mm/pagemap.rst.
const (
	pagePresent = 1 << 63
	pageSwapped = 1 << 62
	pageOfFile  = 1 << 61
)

// owned reports whether a page is the memory's own: there is one, and it is not
// the file's.
func owned(state uint64) bool {
	return state&(pagePresent|pageSwapped) != 0 && state&pageOfFile == 0
}

// pagemap is the file that tells about the pages of this process, below zero
// where it does not, or is not right. scans: it can also be asked for pages of a
// kind, as since Linux 6.7, which takes a quarter of the time.
var pagemap = sync.OnceValues(func() (file int, scans bool) {
	file, err := unix.Open("/proc/self/pagemap", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, false
	}
	if err := tryPages(&pages{file: file}); err != nil {
		_ = unix.Close(file)
		return -1, false
	}
	return file, tryPages(&pages{file: file, scans: true}) == nil
})

// pages asks the kernel about pages. It is used by one goroutine at a time.
type pages struct {
	file  int
	scans bool
	// states and spans are room for the answer.
	states []uint64
	spans  []span
}

// span is a run of pages by address, as the kernel has it.
type span struct{ from, to, _ uint64 }

// own are the pages of memory that are its own, in order, relative to its begin;
// it is good until the next call. memory is whole pages.
func (p *pages) own(memory []byte) (own []span, err error) {
	p.spans = p.spans[:0]
	if len(memory) == 0 {
		return nil, nil
	}
	base := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(memory))))
	if p.scans {
		err = p.scan(base, base+uint64(len(memory)))
	} else {
		err = p.read(base, len(memory)/pageSize)
	}
	if err != nil {
		return nil, fmt.Errorf("ask which pages are written to: %w", err)
	}
	for n := range p.spans {
		p.spans[n].from -= base
		p.spans[n].to -= base
	}
	return p.spans, nil
}

// read looks at all states.
func (p *pages) read(base uint64, count int) error {
	if len(p.states) < count {
		p.states = make([]uint64, count)
	}
	states := p.states[:count]
	room := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(states))), 8*count)
	for at := 0; at < len(room); {
		n, err := unix.Pread(p.file, room[at:], int64(base)/int64(pageSize)*8+int64(at))
		if err == unix.EINTR {
			continue
		}
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		at += n
	}
	for n, state := range states {
		if !owned(state) {
			continue
		}
		from := base + uint64(n*pageSize)
		if last := len(p.spans) - 1; last >= 0 && p.spans[last].to == from {
			p.spans[last].to += uint64(pageSize)
		} else {
			p.spans = append(p.spans, span{from: from, to: from + uint64(pageSize)})
		}
	}
	return nil
}

// The request PAGEMAP_SCAN, struct pm_scan_arg, and the kinds of pages.
const (
	pagemapScan = 0xc0606610

	kindFile    = 1 << 2
	kindPresent = 1 << 3
	kindSwapped = 1 << 4
)

type scanArgument struct {
	size, flags, start, end, walkEnd uint64
	vec                              *span
	vecLen, maxPages                 uint64
	inverted, mask, anyOf, told      uint64
}

// scan has the kernel look.
func (p *pages) scan(from, to uint64) error {
	for from < to {
		p.spans = slices.Grow(p.spans, 256)
		room := p.spans[len(p.spans):cap(p.spans)]
		a := &scanArgument{start: from, end: to, vec: unsafe.SliceData(room), vecLen: uint64(len(room)),
			inverted: kindFile, mask: kindFile, anyOf: kindPresent | kindSwapped}
		a.size = uint64(unsafe.Sizeof(*a))
		n, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(p.file), pagemapScan, uintptr(unsafe.Pointer(a)))
		runtime.KeepAlive(room)
		switch {
		case errno == unix.EINTR:
			continue
		case errno != 0:
			return errno
		case a.walkEnd <= from:
			return io.ErrNoProgress
		}
		p.spans = p.spans[:len(p.spans)+int(n)]
		from = a.walkEnd
	}
	return nil
}

// tryPages finds out whether the kernel can be believed: systems that imitate
// Linux, or hide files of /proc, may say anything.
func tryPages(p *pages) error {
	i, err := newImage(make([]byte, 4*pageSize), nil)
	if err != nil {
		return err
	}
	defer i.close()
	memory, err := unix.Mmap(i.file, 0, 4*pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Munmap(memory) }()
	for round := range 2 {
		seen := memory[0]             // only read
		memory[pageSize] = seen + 1   // written
		memory[3*pageSize] = seen + 1 // written
		own, err := p.own(memory)
		if err != nil {
			return err
		}
		size := uint64(pageSize)
		if !slices.Equal(own, []span{{from: size, to: 2 * size}, {from: 3 * size, to: 4 * size}}) {
			return fmt.Errorf("told %v", own)
		}
		for _, page := range []int{1, 3} {
			if err := unix.Madvise(memory[page*pageSize:(page+1)*pageSize], unix.MADV_DONTNEED); err != nil {
				return err
			}
			if memory[page*pageSize] != 0 {
				return fmt.Errorf("page %d stayed in round %d", page, round)
			}
		}
	}
	return nil
}
