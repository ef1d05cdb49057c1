package catalog

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/deflate"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
)

// pile is a list of entries and how often they were encoded.
type pile struct {
	t       *testing.T
	entries []*Entry
	bytes   int // of an encoded entry
	encoded atomic.Int64
}

func newPile(t *testing.T, n int) *pile {
	p := &pile{t: t, bytes: 10}
	for i := range n {
		p.entries = append(p.entries, NewEntry(storage.KV{Revision: int64(i + 1)}))
	}
	return p
}

func (p *pile) text(e *Entry) string { return fmt.Sprintf("%0*d", p.bytes, e.Revision) }

// list compresses the pile, checks it, and returns how many pieces there are
// and how many entries were encoded.
func (p *pile) list(in RunKey) (pieces, encoded int) {
	p.t.Helper()
	before := p.encoded.Load()
	var want string
	for _, e := range p.entries {
		want += p.text(e)
	}
	all, err := Compressed(p.entries, in, func(int) int { return p.bytes }, func(dst []byte, from, to int) []byte {
		p.encoded.Add(int64(to - from))
		for _, e := range p.entries[from:to] {
			dst = append(dst, p.text(e)...)
		}
		return dst
	})
	var b deflate.Body
	for _, piece := range all {
		b.Add(piece)
	}
	var out bytes.Buffer
	if err == nil {
		err = b.Write(&out)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := gzip.NewReader(&out)
	if err != nil {
		p.t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != want {
		p.t.Fatalf("%d bytes for %d: %v", len(got), len(want), err)
	}
	return len(all), int(p.encoded.Load() - before)
}

// What was compressed once is not encoded again, and of what changed no more
// than a part.
func TestRunsAreKept_LIST01(t *testing.T) {
	s := newShelf(t, withCronTab)
	in := s.cronTabs().RunKey(encoding.At(v1))
	const many = 64 * runLength
	p := newPile(t, many)
	pieces, encoded := p.list(in)
	if encoded != many || pieces < 32 || pieces > 128 {
		t.Errorf("%d entries in %d pieces", encoded, pieces)
	}
	if again, encoded := p.list(in); encoded != 0 || again != pieces {
		t.Errorf("the second time %d entries in %d pieces", encoded, again)
	}
	for _, i := range []int{0, 1, many / 2, many - 1} {
		p.entries[i] = NewEntry(storage.KV{Revision: p.entries[i].Revision})
		if _, encoded := p.list(in); encoded == 0 || encoded > many/4 {
			t.Errorf("a change of %d encodes %d", i, encoded)
		}
	}
	gone := p.entries[100]
	p.entries = append(p.entries[:100:100], p.entries[101:]...)
	if _, encoded := p.list(in); encoded > many/4 || encoded == 0 && !gone.begins() {
		t.Errorf("a deletion encodes %d", encoded)
	}
	whole := p.entries
	p.entries = whole[10:2000] // another selection begins and ends elsewhere
	if _, encoded := p.list(in); encoded == 0 || encoded > many/4 {
		t.Errorf("a part encodes %d", encoded)
	}
	p.entries = whole
	if _, encoded := p.list(in); encoded != 0 {
		t.Errorf("the whole after it encodes %d", encoded)
	}
	for _, other := range []RunKey{s.cronTabs().RunKey(inProtobuf(v1)), s.cronTabs().RunKey(encoding.At(v1beta1)), s.cronTabs().RunKey(encoding.MetadataOnly())} {
		if _, encoded := p.list(other); encoded != len(p.entries) {
			t.Errorf("another encoding encodes %d", encoded)
		}
	}
	s.conv.Revision.Add(1) // another converter may convert otherwise
	if _, encoded := p.list(s.cronTabs().RunKey(encoding.At(v1))); encoded != len(p.entries) {
		t.Errorf("another converter encodes %d", encoded)
	}
}

func TestRunsAreBounded(t *testing.T) {
	p := newPile(t, 60)
	p.bytes = runBytes / 10
	if pieces, _ := p.list(RunKey{}); pieces < 6 {
		t.Errorf("%d large objects are in %d pieces", len(p.entries), pieces)
	}
	first, fresh := p.entries[0], NewEntry(storage.KV{})
	for i := range 3 * maxRuns {
		p.list(RunKey{viewKey: asOf(fmt.Sprint(i))})
	}
	kept := 0
	for n := first.runs.Load(); n != nil; n = n.next {
		if want := fmt.Sprint(3*maxRuns - 1 - kept); n.Version != want {
			t.Errorf("%s is kept in place of %s", n.Version, want)
		}
		kept++
	}
	if kept != maxRuns || first.Size() <= fresh.Size()+kept*100 {
		t.Errorf("%d runs are kept, the entry has %d bytes of %d", kept, first.Size(), fresh.Size())
	}
	if first.Shed(); first.Size() != fresh.Size() {
		t.Errorf("%d bytes are left of %d", first.Size(), fresh.Size())
	}
	if pieces, err := Compressed(nil, RunKey{}, nil, nil); len(pieces) != 0 || err != nil {
		t.Errorf("nothing is %d pieces: %v", len(pieces), err)
	}
}

// Of those that are joined one is kept in each encoding, the latest, beside all
// others.
func TestOneJoinedRunIsKept(t *testing.T) {
	e := NewEntry(storage.KV{})
	joined := func(version string) RunKey { return RunKey{viewKey: asOf(version), joined: true} }
	for _, in := range []RunKey{{viewKey: asOf("a")}, joined("a"), joined("b"), joined("a"), {viewKey: asOf("b")}, joined("b")} {
		e.addRun(&run{RunKey: in})
	}
	var kept []string
	for n := e.runs.Load(); n != nil; n = n.next {
		kept = append(kept, fmt.Sprint(n.Version, n.RunKey.joined))
	}
	if want := "[btrue bfalse atrue afalse]"; fmt.Sprint(kept) != want {
		t.Errorf("kept are %v, want %s", kept, want)
	}
}

func TestRunsAreMadeAtOnce(t *testing.T) {
	p := newPile(t, 10*runLength)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 20 {
				p.list(RunKey{viewKey: asOf(fmt.Sprint((i + n) % 4))})
			}
		})
	}
	wg.Wait()
}
