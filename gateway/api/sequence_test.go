package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

const partTable = ";as=Table;v=v1;g=meta.k8s.io"

// otherForms are those that lists are put into while they are sent.
var otherForms = map[string]form{
	"YAML": {media: encoding.YAML}, "CBOR": {media: encoding.CBOR}, "JSON for people": {media: encoding.JSON, pretty: true},
}

// soon is a context with some time left.
func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
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

func TestLists_MT05(t *testing.T) {
	w := newWorld(t)
	for i := range 3 {
		w.do("POST", widgets, a(fmt.Sprintf("w%d", i), "")).want(201, "")
	}
	list := w.do("GET", widgets, "", "Accept: application/yaml").want(200, "items:\n- apiVersion: example.com/v1\n  kind: Widget\n")
	if list.ContentType != encoding.TypeYAML || strings.Count(list.body, "\n- apiVersion") != 3 {
		t.Errorf("%s %s", list.ContentType, list.body)
	}
}

// A long table is the same in every form, compressed or not, and has a row for
// each object.
func TestLongTables_MT15(t *testing.T) {
	w := newWorld(t)
	const many = 5*tableBatch/2 + 1
	for i := range many {
		w.do("POST", widgets, a(fmt.Sprintf("w%03d", i), `"size":`+fmt.Sprint(i))).want(201, "")
	}
	for _, part := range []string{"", "&includeObject=Object", "&includeObject=None", "&noHeaders=true", "&limit=120"} {
		plain := w.do("GET", widgets+"?x"+part, "", "Accept: application/json"+partTable)
		var table struct {
			Metadata map[string]any
			Rows     []struct{ Cells []any }
		}
		if err := json.Unmarshal([]byte(plain.want(200, `"kind":"Table"`).body), &table); err != nil {
			t.Fatal(err)
		}
		want := many
		if part == "&limit=120" {
			want = 120
		}
		if len(table.Rows) != want || table.Rows[want-1].Cells[0] != fmt.Sprintf("w%03d", want-1) || table.Metadata["resourceVersion"] == nil || (table.Metadata["continue"] != nil) != (want < many) {
			t.Errorf("%s: %d rows, %v", part, len(table.Rows), table.Metadata)
		}
		for name, f := range otherForms {
			if f.media == encoding.CBOR {
				continue
			}
			want, err := f.encode(nil, []byte(plain.body))
			if err != nil {
				t.Fatal(err)
			}
			f.as, f.version = "Table", "v1"
			r := w.do("GET", widgets+"?x"+part+"&pretty="+fmt.Sprint(f.pretty), "", "Accept: "+f.media.Name()+partTable, takesGzip)
			body := r.body
			if len(want) > gzipLeast {
				body = r.unzipped()
			}
			if body != string(want) {
				t.Errorf("%s %s: %.500s\nwant\n%.500s", name, part, body, want)
			}
		}
	}
}

// Whatever an item holds, it is in a list what it is in the whole.
func FuzzLayouts_MT05_MT11(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":"\nitems: []\n"}`, `{"a":"x  \n y","b":[[],{}]}`, `{"metadata":{"name":"a"},"data":{"k":"long words long words"}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, item string) {
		if tree, _, err := object.Parse([]byte(item)); err != nil || tree == nil {
			return
		}
		views := objects{encoding.Text(item), encoding.Text(`{"a":1}`), encoding.Text(item)}
		whole := listOf(views)
		for name, form := range otherForms {
			want, whyNot := form.encode(nil, whole)
			resp, err := gradually(soon(t), form, list(), views)
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

// pieces counts what is written, and the longest piece of it.
type pieces struct{ total, longest int }

// Write implements [io.Writer].
func (p *pieces) Write(b []byte) (int, error) {
	p.total, p.longest = p.total+len(b), max(p.longest, len(b))
	return len(b), nil
}

// allocated is how many bytes f allocates.
func allocated(f func()) int {
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	f()
	goruntime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// A plain list is sent item by item, from what the cache holds: neither a piece nor
// what is allocated for it all grows with the list.
func TestPlainListsTakeLittleMemory_MT14(t *testing.T) {
	w := newWorld(t, func(c *Setup) { c.MaxBodyBytes = 1 << 20 })
	const many, each = 100, 20 << 10
	for i := range many {
		w.do("POST", configMaps, configMap(fmt.Sprint("c", i), strings.Repeat("text ", each/5))).want(201, "")
	}
	for _, media := range []string{encoding.TypeJSON, encoding.TypeProtobuf} {
		for _, query := range []string{"", "?resourceVersion=0", "?labelSelector=l!=x", fmt.Sprint("?limit=", many-1)} {
			ask := func() (*reply.Response, *pieces) {
				resp, to := w.Serve(request("GET", configMaps+query, "", "Accept: "+media)), &pieces{}
				if resp.Code != 200 || resp.ContentType != media || resp.Write == nil || resp.Body != nil {
					t.Fatalf("%s %s: %d of %s is no list that is written", media, query, resp.Code, resp.ContentType)
				}
				if err := resp.Write(to); err != nil {
					t.Fatal(err)
				}
				return resp, to
			}
			ask() // objects are encoded once, and remembered
			var resp *reply.Response
			var sent *pieces
			took := allocated(func() { resp, sent = ask() })
			for range 2 { // what others allocate meanwhile counts, too
				took = min(took, allocated(func() { resp, sent = ask() }))
			}
			if sent.total != resp.Length || sent.total < (many-1)*each {
				t.Errorf("%s %s: %d bytes of %d", media, query, sent.total, resp.Length)
			}
			if sent.longest > maxPiece+2*each {
				t.Errorf("%s %s: a piece of %d bytes", media, query, sent.longest)
			}
			if took > sent.total/8 {
				t.Errorf("%s %s: %d bytes are allocated for a list of %d", media, query, took, sent.total)
			}
		}
	}
}
