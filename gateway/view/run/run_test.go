package run

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
)

const (
	v1      = catalogtest.V1
	v1beta1 = catalogtest.V1beta1
)

// cronTabs is what renders CronTabs, with memory for what is kept, and converts them.
func cronTabs(t testing.TB, m *view.Memory) (*view.Renderer, *catalogtest.Turning) {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(catalogtest.CronTab(v1, false)))
	if err != nil {
		t.Fatal(err)
	}
	def, err := catalogtest.Compile(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	converter := &catalogtest.Turning{}
	return view.New(def, converter, m), converter
}

// others are keys of other encodings than JSON at v1.
func others(r *view.Renderer) (out []Key) {
	for _, in := range []encoding.Encoding{{Version: v1, Media: encoding.Protobuf}, encoding.At(v1beta1), encoding.MetadataOnly()} {
		out = append(out, KeyOf(r, in))
	}
	return out
}

// asOf is a key at a version, of no definition.
func asOf(version string) view.Key { return view.Key{Encoding: encoding.At(version)} }

// pile is a list of entries and how often they were encoded.
type pile struct {
	t       *testing.T
	entries []*view.Entry
	bytes   int // of an encoded entry
	encoded atomic.Int64
}

func newPile(t *testing.T, n int) *pile {
	p := &pile{t: t, bytes: 10}
	for i := range n {
		p.entries = append(p.entries, view.NewEntry(storage.KV{Revision: int64(i + 1)}))
	}
	return p
}

func (p *pile) text(e *view.Entry) string { return fmt.Sprintf("%0*d", p.bytes, e.Revision) }

// list compresses the pile, checks it, and returns how many pieces there are
// and how many entries were encoded.
func (p *pile) list(in Key) (pieces, encoded int) {
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
	var b Body
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
	r, converter := cronTabs(t, nil)
	in := KeyOf(r, encoding.At(v1))
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
		p.entries[i] = view.NewEntry(storage.KV{Revision: p.entries[i].Revision})
		if _, encoded := p.list(in); encoded == 0 || encoded > many/4 {
			t.Errorf("a change of %d encodes %d", i, encoded)
		}
	}
	gone := p.entries[100]
	p.entries = append(p.entries[:100:100], p.entries[101:]...)
	if _, encoded := p.list(in); encoded > many/4 || encoded == 0 && !begins(gone) {
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
	for _, other := range others(r) {
		if _, encoded := p.list(other); encoded != len(p.entries) {
			t.Errorf("another encoding encodes %d", encoded)
		}
	}
	converter.Revision.Add(1) // another converter may convert otherwise
	if _, encoded := p.list(KeyOf(r, encoding.At(v1))); encoded != len(p.entries) {
		t.Errorf("another converter encodes %d", encoded)
	}
}

func TestRunsAreBounded(t *testing.T) {
	p := newPile(t, 60)
	p.bytes = runBytes / 10
	if pieces, _ := p.list(Key{}); pieces < 6 {
		t.Errorf("%d large objects are in %d pieces", len(p.entries), pieces)
	}
	first, fresh := p.entries[0], view.NewEntry(storage.KV{})
	for i := range 3 * maxRuns {
		p.list(Key{Key: asOf(fmt.Sprint(i))})
	}
	kept := 0
	for _, k := range first.Kept() {
		if got, want := k.(*run).Version, fmt.Sprint(3*maxRuns-1-kept); got != want {
			t.Errorf("%s is kept in place of %s", got, want)
		}
		kept++
	}
	if kept != maxRuns || first.Size() <= fresh.Size()+kept*100 {
		t.Errorf("%d runs are kept, the entry has %d bytes of %d", kept, first.Size(), fresh.Size())
	}
	if first.Shed(); first.Size() != fresh.Size() {
		t.Errorf("%d bytes are left of %d", first.Size(), fresh.Size())
	}
	if pieces, err := Compressed(nil, Key{}, nil, nil); len(pieces) != 0 || err != nil {
		t.Errorf("nothing is %d pieces: %v", len(pieces), err)
	}
}

// Of those that are joined one is kept in each encoding, the latest, beside all
// others.
func TestOneJoinedRunIsKept(t *testing.T) {
	e := view.NewEntry(storage.KV{})
	joined := func(version string) Key { return Key{Key: asOf(version), joined: true} }
	for _, in := range []Key{{Key: asOf("a")}, joined("a"), joined("b"), joined("a"), {Key: asOf("b")}, joined("b")} {
		keep(e, &run{Key: in})
	}
	var kept []string
	for _, k := range e.Kept() {
		kept = append(kept, fmt.Sprint(k.(*run).Version, k.(*run).Key.joined))
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
				p.list(Key{Key: asOf(fmt.Sprint((i + n) % 4))})
			}
		})
	}
	wg.Wait()
}
