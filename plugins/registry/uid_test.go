package registry

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"testing"
)

// The uid of a request has the form of one, and follows from the objects alone.
func TestRequestUID(t *testing.T) {
	for _, n := range []int{0, 1, 255, 0x12345} {
		objects := make([][]byte, n)
		for i := range objects {
			objects[i] = bytes.Repeat([]byte{byte(i)}, 3)
		}
		sum := crc32.Checksum(bytes.Join(objects, nil), crc32.MakeTable(crc32.Castagnoli))
		if got, want := requestUID(objects), fmt.Sprintf("%08x-0000-4000-8000-%04x%08x", sum, n&0xffff, 3*n); got != want {
			t.Errorf("of %d objects: %s, want %s", n, got, want)
		}
	}
	if got, want := string(appendHex([]byte("x"), 0x9abcdef0, 8)), "x9abcdef0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
