package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd"
)

// A document of many pieces is written as it is in one, in few writes and of the length
// that it tells; who cannot take it is told.
func TestABodyIsWrittenWhole(t *testing.T) {
	for _, b := range []Body{nil, {[]byte("one")}, {[]byte("one"), nil, bytes.Repeat([]byte("x"), 2*gathered), []byte("three")}} {
		w := &writes{}
		if err := b.Write(w); err != nil || w.String() != string(b.Joined()) || w.Len() != b.Length() || w.n > len(b) {
			t.Errorf("%d pieces: %d writes of %d bytes, %v", len(b), w.n, w.Len(), err)
		}
	}
	w := &writes{broken: errors.New("gone")}
	for _, b := range []Body{{[]byte("one")}, {bytes.Repeat([]byte("x"), 2*gathered), []byte("x")}} {
		if err := b.Write(w); !errors.Is(err, w.broken) {
			t.Errorf("got %v", err)
		}
	}
}

type writes struct {
	bytes.Buffer
	n      int
	broken error
}

func (w *writes) Write(p []byte) (int, error) {
	if w.n++; w.broken != nil {
		return 0, w.broken
	}
	return w.Buffer.Write(p)
}

// Of what a changed definition is described by, all that is not its own is in memory
// once, in both documents of everything.
func TestDocumentsOfEverythingShareTheirPieces(t *testing.T) {
	var defs []*crd.Definition
	for i := range 20 {
		defs = append(defs, disks(t, fmt.Sprintf("g%d.example.com", i), "a"))
	}
	first := documents(t, defs, nil)
	second := documents(t, append(defs[1:], disks(t, "g0.example.com", "b")), first)
	for _, accept := range []string{mediaJSON, v2Protobuf} {
		at := map[*byte]bool{}
		one, _, _, _ := first.Lookup(v2Path, accept)
		two, _, _, _ := second.Lookup(v2Path, accept)
		for _, piece := range one {
			if len(piece) > 0 {
				at[&piece[0]] = true
			}
		}
		own := 0
		for _, piece := range two {
			if len(piece) > 0 && !at[&piece[0]] {
				own += len(piece)
			}
		}
		if own == 0 || own*10 > two.Length() {
			t.Errorf("%s: %d of %d bytes are the second's own", accept, own, two.Length())
		}
		if accept == mediaJSON && (!json.Valid(two.Joined()) || !strings.Contains(string(two.Joined()), `"description":"b"`)) {
			t.Error("it does not say what changed")
		}
	}
}
