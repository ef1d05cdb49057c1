package transport

import (
	"errors"
	"net"
	"testing"
)

// What nobody will send is not kept, however much still comes.
func TestFramesOfABrokenConnectionAreNotKept(t *testing.T) {
	f := &frames{failed: net.ErrClosed}
	for range 2 {
		f.Frame([]byte("head"), []byte("body"), "tail")
		if err := f.Flush(); !errors.Is(err, net.ErrClosed) || f.collected != nil {
			t.Errorf("%v, kept are %v", err, f.collected)
		}
	}
}
