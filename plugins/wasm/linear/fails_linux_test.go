package linear

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// What the kernel does not tell is an error, of a memory that is put back too.
func TestPagesThatCannotBeAsked(t *testing.T) {
	short, err := os.Create(filepath.Join(t.TempDir(), "pagemap"))
	if err != nil {
		t.Fatal(err)
	}
	defer short.Close()
	memory := make([]byte, 4*pageSize)
	for name, c := range map[string]struct {
		pages
		want error
	}{
		"no file":           {pages{file: -1}, unix.EBADF},
		"no file to scan":   {pages{file: -1, scans: true}, unix.EBADF},
		"a file that ends":  {pages{file: int(short.Fd())}, io.ErrUnexpectedEOF},
		"a file of no kind": {pages{file: int(short.Fd()), scans: true}, unix.ENOTTY},
	} {
		if own, err := c.own(memory); !errors.Is(err, c.want) || own != nil {
			t.Errorf("%s: %v, %v", name, own, err)
		}
		if own, err := c.own(nil); err != nil || own != nil {
			t.Errorf("%s, of nothing: %v, %v", name, own, err)
		}
		if err := tryPages(&c.pages); !errors.Is(err, c.want) {
			t.Errorf("%s is believed: %v", name, err)
		}
		m := newMapped(16 * uint64(pageSize))
		if m == nil {
			t.Skip("memory is not mapped here")
		}
		m.Reallocate(uint64(pageSize))
		if err := m.Keep(&Shared{}); err != nil {
			t.Fatal(err)
		}
		m.(*mapped).pages = c.pages
		if grown, err := m.Restore(); grown || !errors.Is(err, c.want) {
			t.Errorf("%s: put back, grown %t, %v", name, grown, err)
		}
		m.Free()
	}
}

// A system that says of no page that it was written to is not believed.
func TestPagesThatAreNeverWritten(t *testing.T) {
	zeros, err := os.Create(filepath.Join(t.TempDir(), "pagemap"))
	if err != nil {
		t.Fatal(err)
	}
	defer zeros.Close()
	if err := zeros.Truncate(8 << 47 / int64(pageSize)); err != nil { // for all addresses there are; nothing is stored
		t.Skip(err)
	}
	if err := tryPages(&pages{file: int(zeros.Fd())}); err == nil {
		t.Error("it is believed")
	}
}

// An image is of its memory alone, and what cannot be written is no image.
func TestImages(t *testing.T) {
	memory := make([]byte, 3*pageSize)
	memory[pageSize] = 1
	i, err := newImage(memory, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer i.close()
	other := make([]byte, len(memory))
	copy(other, memory)
	if !i.is(other) || i.is(other[:2*pageSize]) || i.size() != uint64(len(memory)) {
		t.Error("it is not of equal memory, or of a part")
	}
	for _, at := range []int{0, pageSize, 3*pageSize - 1} {
		other[at] ^= 7
		if i.is(other) {
			t.Errorf("it is of memory that differs at %d", at)
		}
		other[at] ^= 7
	}
	for n, want := range []bool{false, true, false, false} {
		if held := i.page(n)[0] != 0; held != want {
			t.Errorf("page %d is written %t", n, held)
		}
	}
	if err := (&image{file: -1}).fill(memory); !errors.Is(err, unix.EBADF) {
		t.Error(err)
	}
	if err := (&image{file: i.file}).fill(memory); !errors.Is(err, unix.EPERM) {
		t.Errorf("what is sealed is written: %v", err)
	}
	unsealed, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(unsealed)
	if err := (&image{file: unsealed}).fill(memory); !errors.Is(err, unix.EPERM) {
		t.Errorf("what cannot be sealed is an image: %v", err)
	}
}

// Memory is mapped where that can be, and never has more than it was made for.
func TestNewMemory(t *testing.T) {
	m := New(2 * uint64(pageSize))
	defer m.Free()
	if _, is := m.(*mapped); is != (newMapped(uint64(pageSize)) != nil) {
		t.Errorf("%T", m)
	}
	if got := m.Reallocate(2 * uint64(pageSize)); len(got) != 2*pageSize {
		t.Errorf("%d bytes", len(got))
	}
	if got := m.Reallocate(2*uint64(pageSize) + 1); got != nil {
		t.Errorf("%d bytes, more than the most", len(got))
	}
}

// A page that cannot be given up is an error, also where pages that stay follow it.
func TestPagesThatCannotBeGivenUp(t *testing.T) {
	for _, follows := range []bool{false, true} {
		memory := newMapped(2 * uint64(pageSize))
		if memory == nil {
			t.Skip("memory is not mapped here")
		}
		defer memory.Free()
		all := memory.Reallocate(2 * uint64(pageSize))
		if err := memory.Keep(&Shared{}); err != nil {
			t.Fatal(err)
		}
		all[0] = 0 // its own, and as it was
		if follows {
			all[pageSize] = 1
		}
		if err := unix.Mlock(all[:pageSize]); err != nil {
			t.Skip(err)
		}
		memory.(*mapped).clean = []uint8{patience - 1}
		if _, err := memory.Restore(); !errors.Is(err, unix.EINVAL) {
			t.Errorf("followed by one that stays %v: %v", follows, err)
		}
	}
}
