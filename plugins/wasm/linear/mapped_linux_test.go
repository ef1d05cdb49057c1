package linear

import (
	"bytes"
	"testing"
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
