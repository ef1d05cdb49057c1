package linear

import (
	"bytes"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func init() {
	newOlder = func(most uint64) Memory {
		m := newMapped(most)
		m.(*mapped).pages.scans = false
		return m
	}
}

// A call that writes everywhere leaves no memory behind that nobody counts.
func TestWhatStaysBetweenCallsIsBounded(t *testing.T) {
	const most = 64 << 20
	m := newMapped(most)
	if m == nil {
		t.Skip("this system does not tell what is written to")
	}
	defer m.Free()
	m.Reallocate(wasmPage)[3] = 1
	if err := m.Keep(&Shared{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		all := m.Reallocate(most)
		for at := 0; at < len(all); at += 1000 {
			all[at] = 7
		}
		if _, err := m.Restore(); err != nil {
			t.Fatal(err)
		}
		if got, bound := m.Resident(), int64(wasmPage+maxOwn*pageSize); got > bound || m.Resident() < bound/2 {
			t.Errorf("%d bytes stay, want about %d", got, bound)
		}
		m.Reallocate(0) // takes back what Restore announced
	}
	for range patience {
		if _, err := m.Restore(); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.Resident(); got != wasmPage {
		t.Errorf("%d bytes stay after calls that wrote nothing", got)
	}
}

// Memories that begin alike have one image, which goes with the last of them.
func TestEqualMemoriesHaveOneImage(t *testing.T) {
	var s Shared
	memory, other := bytes.Repeat([]byte{1}, wasmPage), bytes.Repeat([]byte{2}, wasmPage)
	keep := func(memory []byte) (*image, func()) {
		t.Helper()
		i, free, err := s.keep(memory)
		if err != nil {
			t.Fatal(err)
		}
		return i, free
	}
	first, freeFirst := keep(memory)
	second, freeSecond := keep(bytes.Clone(memory))
	third, freeThird := keep(other)
	if first != second || third == first || s.image != first {
		t.Errorf("%p, %p and %p; kept is %p", first, second, third, s.image)
	}
	freeThird()
	freeFirst()
	if s.image != second || !second.is(memory) {
		t.Error("an image is gone that is used")
	}
	freeSecond()
	if s.image != nil {
		t.Error("an image stays that nobody uses")
	}
}

// Nothing of a memory is left in the process when it was given back: no addresses, and no
// file.
func TestNothingIsLeftOfAMemory(t *testing.T) {
	m := newMapped(4 * wasmPage)
	if m == nil {
		t.Skip("this system does not tell what is written to")
	}
	defer m.Free()
	left := func() (mappings, files int) {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Skip(err)
		}
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return bytes.Count(maps, []byte("memfd:wasmgate-memory")), len(open)
	}
	mappings, files := left()
	copy(m.Reallocate(wasmPage), "kept")
	if err := m.Keep(&Shared{}); err != nil {
		t.Fatal(err)
	}
	if nowMapped, nowOpen := left(); nowMapped != mappings+2 || nowOpen != files+1 {
		t.Errorf("%d more mappings and %d more files, want 2 and 1", nowMapped-mappings, nowOpen-files)
	}
	m.Free()
	if nowMapped, nowOpen := left(); nowMapped != mappings || nowOpen != files {
		t.Errorf("%d mappings and %d files are left", nowMapped-mappings, nowOpen-files)
	}
}

// Where the kernel tells which pages were written to it is believed, and where it can be
// asked for pages of a kind, too.
func TestMemoriesAreMappedWhereTheKernelTells(t *testing.T) {
	file, err := unix.Open("/proc/self/pagemap", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = unix.Close(file) }()
	memory, err := unix.Mmap(-1, 0, 2*pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(memory) }()
	memory[pageSize] = 1
	states := make([]byte, 16) // looked at here by itself
	at := int64(uintptr(unsafe.Pointer(&memory[0]))) / int64(pageSize) * 8
	if _, err := unix.Pread(file, states, at); err != nil || states[7]>>7 != 0 || states[15]>>7 != 1 {
		t.Skipf("of a page that was not written to, and one that was, it tells %x, %v", states, err)
	}
	if err := tryPages(&pages{file: file}); err != nil {
		t.Error(err)
	}
	scans := tryPages(&pages{file: file, scans: true}) == nil
	if _, _, known := unix.Syscall(unix.SYS_IOCTL, uintptr(file), pagemapScan, 0); scans != (known == unix.EFAULT) {
		t.Errorf("scans %v, where a request without an argument is %v", scans, known)
	}
	if gotFile, gotScans := pagemap(); gotFile < 0 || gotScans != scans {
		t.Errorf("file %d, scans %v, want %v", gotFile, gotScans, scans)
	}
	if m := newMapped(wasmPage); m == nil {
		t.Error("memory is not mapped")
	} else {
		m.Free()
	}
}

// Nothing is kept in a file that others could still change, and a memory that could
// not be kept is not taken for one that was.
func TestWhatCannotBeKept(t *testing.T) {
	open, err := unix.MemfdCreate("open", unix.MFD_CLOEXEC) // cannot be sealed
	if err != nil {
		t.Skip(err)
	}
	i := &image{file: open}
	defer i.close()
	if err := i.fill(make([]byte, wasmPage)); err == nil {
		t.Error("an image is made that can be changed")
	}
	m := newMapped(wasmPage)
	if m == nil {
		t.Skip("this system does not tell what is written to")
	}
	defer m.Free()
	m.Reallocate(wasmPage)
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	err = m.Keep(&Shared{}) // which needs a file
	if back := unix.Setrlimit(unix.RLIMIT_NOFILE, &was); back != nil {
		t.Fatal(back)
	}
	if err == nil {
		t.Error("a memory is kept without a file")
	}
}
