package form

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// otherForms are those that lists are put into while they are sent.
var otherForms = map[string]Form{
	"YAML": {media: encoding.YAML}, "CBOR": {media: encoding.CBOR}, "JSON for people": {media: encoding.JSON, pretty: true},
}

// soon is a context with some time left.
func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// list is a list of ConfigMaps without them.
func list() *encoding.List {
	return &encoding.List{APIVersion: "v1", Kind: "ConfigMapList", ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "c"}}
}

// listOf is the list with items, all in JSON.
func listOf(items []encoding.Object) []byte {
	head, tail, _ := encoding.JSON.Codec().Around(list(), len(items), 0)
	for i, o := range items {
		if i > 0 {
			head = append(head, ',')
		}
		head = o.AppendTo(head)
	}
	return append(head, tail...)
}

// A list that is made of its items is what the library makes of the whole, however
// its items look, and whether it is short or long.
func TestListsAreMadeOfTheirItems_MT05_MT11(t *testing.T) {
	odd := []string{
		`{}`, `{"a":null}`, `{"a":[],"b":{}}`, `{"a":[[1,[2]],{"b":[{}]}]}`, `{"items":[]}`, `{"a":"\nitems: []\n"}`, `{"a":"- x"}`, `{"a":" x\n  y\n"}`,
		`{"a":"` + strings.Repeat("long words ", 100) + `"}`, `{"a":"true","b":"1e3","c":"~","d":"","é":"\u2028","<":">"}`, `{"a":1.5,"b":9007199254740993,"c":-1,"d":1e21}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"x":"y"}},"data":{"f":"line\nline\n\n","g":"\ttab"}}`,
	}
	large := `{"data":{"k":"` + strings.Repeat("some text ", 100) + `"}}`
	for name, f := range otherForms {
		for _, n := range []int{0, 1, 2, 3, 5, 12, 23, 24, 255, 256, 300, 65536} {
			views := make(objects, n)
			for i := range views {
				views[i] = encoding.Text(odd[(i*7+n)%len(odd)])
				if i > 100 && n < 1000 {
					views[i] = encoding.Text(large)
				} else if i > 100 {
					views[i] = encoding.Text(`{"a":1}`)
				}
			}
			whole := listOf(views)
			want, err := f.encode(nil, whole)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := gradually(soon(t), f, list(), views)
			if err != nil {
				t.Fatal(err)
			}
			got := resp.Body
			if resp.Reader != nil {
				got, err = io.ReadAll(resp.Reader)
			}
			if err != nil || !bytes.Equal(got, want) || resp.ContentType != f.media.Name() {
				t.Errorf("%s, %d items: %v\n%.2000q\nwant\n%.2000q", name, n, err, got, want)
			}
			if made := resp.Reader == nil; made != (len(want) <= gzipLeast) && len(want) > gzipLeast+len(large)*2 {
				t.Errorf("%s, %d items: %d bytes are made at once: %v", name, n, len(want), made)
			}
		}
	}
}

// endless are items that are made as they are asked for.
type endless int

func (e endless) count() int { return int(e) }

func (e endless) item(i int) (encoding.Object, error) {
	return encoding.Text(`{"metadata":{"name":"` + fmt.Sprint(i) + `"},"data":{"k":"` + strings.Repeat("text ", 200) + `"}}`), nil
}

// The memory that a list is made in is that of a piece, however long it is.
func TestListsAreMadeInLittleMemory_MT05_MT11(t *testing.T) {
	for name, f := range otherForms {
		for _, f.gzip = range []bool{false, true} {
			resp, err := gradually(soon(t), f, list(), endless(8000)) // 8 MB
			if err != nil {
				t.Fatal(err)
			}
			g, total, most := resp.Reader.(*gradual), 0, 0
			for p := make([]byte, 4096); err == nil; {
				var n int
				n, err = g.Read(p)
				total += n
				most = max(most, cap(g.made)+g.out.Cap())
			}
			if err != io.EOF || !f.gzip && total < 8_000_000 || most > 2*gzipLeast+maxPiece {
				t.Errorf("%s, compressed: %v: of %d bytes as many as %d are held; %v", name, f.gzip, total, most, err)
			}
		}
	}
}

// What one large item took is not kept for all that follow.
func TestMemoryOfALargeItemIsGivenBack_MT05_MT11(t *testing.T) {
	items := objects{encoding.Text(`{"a":"` + strings.Repeat("text ", 400_000) + `"}`)}
	for range 20_000 {
		items = append(items, encoding.Text(`{"metadata":{"name":"a"},"data":{"k":"v"}}`))
	}
	for name, f := range otherForms {
		resp, err := gradually(soon(t), f, list(), items)
		if err != nil {
			t.Fatal(err)
		}
		g, p := resp.Reader.(*gradual), make([]byte, 32<<10)
		for err == nil && g.next < len(items)/2 {
			_, err = g.Read(p)
		}
		if held := cap(g.made) + g.out.Cap(); err != nil || held > 2*gzipLeast+maxPiece {
			t.Errorf("%s: %d bytes are held, %v", name, held, err)
		}
	}
}

// Nobody goes on making a list when the time of its request is over.
func TestListsEndWithTheirRequest_MT05_MT11(t *testing.T) {
	past, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for name, f := range otherForms {
		if _, err := gradually(past, f, list(), endless(1)); !apierrors.IsTimeout(err) {
			t.Errorf("%s: %v", name, err)
		}
		resp, err := gradually(soon(t), f, list(), endless(1000))
		if err != nil {
			t.Fatal(err)
		}
		resp.Reader.(*gradual).left = 0
		if _, err := io.ReadAll(resp.Reader); !apierrors.IsTimeout(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever an item holds, it is in a list what it is in the whole.
func FuzzLayouts_MT05_MT11(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":"\nitems: []\n"}`, `{"a":"x  \n y","b":[[],{}]}`, `{"metadata":{"name":"a"},"data":{"k":"long words long words"}}`,
		"{} ", " {\"a\" : 1}\r\n\t", "{}\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, item string) {
		if tree, _, err := object.Parse([]byte(item)); err != nil || tree == nil {
			return
		}
		views := objects{encoding.Text(item), encoding.Text(`{"a":1}`), encoding.Text(item)}
		whole := listOf(views)
		for name, f := range otherForms {
			want, whyNot := f.encode(nil, whole)
			resp, err := gradually(soon(t), f, list(), views)
			if (err == nil) != (whyNot == nil) {
				t.Errorf("%s: %v, and the whole %v", name, err, whyNot)
			}
			if err != nil {
				continue
			}
			got := resp.Body
			if resp.Reader != nil {
				got, err = io.ReadAll(resp.Reader)
			}
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %v\n%q\nwant\n%q", name, err, got, want)
			}
		}
	})
}

// pieces keeps what is written as it came.
type pieces struct {
	bytes.Buffer
	all []int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.all = append(p.all, len(b))
	return p.Buffer.Write(b)
}

// What is kept joined begins with a separator, which is left out where it comes first; what
// is sent is as long as it is said to be, in pieces of a bounded size.
func TestListsOfPartsThatAreKept(t *testing.T) {
	const item = `{"metadata":{"name":"a"}}`
	items := make(objects, 6)
	for i := range items {
		items[i] = encoding.Text(item)
	}
	kept := func(n int) part { return part{kept: []byte(strings.Repeat(","+item, n))} }
	for name, tc := range map[string]struct {
		parts []part
		count int
	}{
		"all items":       {nil, 6},
		"kept first":      {[]part{kept(2), {from: 0, to: 3}}, 5},
		"kept last":       {[]part{{from: 0, to: 3}, kept(2)}, 5},
		"kept between":    {[]part{{from: 0, to: 1}, kept(1), kept(2), {from: 1, to: 6}}, 9},
		"nothing but one": {[]part{kept(1)}, 1},
	} {
		s := sequence{media: encoding.JSON, head: []byte(`{"items":[`), tail: []byte(`]}`), items: items, parts: tc.parts}
		want := `{"items":[` + strings.TrimPrefix(strings.Repeat(","+item, tc.count), ",") + `]}`
		var out pieces
		if err := s.write(&out); err != nil || out.String() != want || s.length() != len(want) {
			t.Errorf("%s: %d bytes, %v: %s\nwant %d: %s", name, s.length(), err, out.String(), len(want), want)
		}
	}
	large := strings.Repeat("x", pieceSize/3)
	s := sequence{media: encoding.JSON, items: objects{encoding.Text(large), encoding.Text(large), encoding.Text(large), encoding.Text(large), encoding.Text(large)}}
	var out pieces
	if err := s.write(&out); err != nil || len(out.all) != 2 || slices.Contains(out.all, 0) || slices.Max(out.all) > pieceSize+pieceSize/4 {
		t.Errorf("%v: written in pieces of %v bytes", err, out.all)
	}
}
