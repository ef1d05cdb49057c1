package api

import (
	"encoding/json"
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

const partTable = ";as=Table;v=v1;g=meta.k8s.io"

// What replies are cut into, in bytes and objects.
const (
	gzipLeast    = 128 << 10 // is not compressed
	maxPiece     = 256 << 10 // of a list
	maxCollected = 256 << 10 // of a watch
	initialPiece = 200       // objects of a watch
	tableBatch   = 100       // rows
)

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
		for _, media := range []encoding.Media{encoding.YAML, encoding.Indented} {
			want, err := media.Codec().Document([]byte(plain.body), nil)
			if err != nil {
				t.Fatal(err)
			}
			r := w.do("GET", widgets+"?x"+part+"&pretty="+fmt.Sprint(media == encoding.Indented), "", "Accept: "+media.Name()+partTable, takesGzip)
			body := r.body
			if len(want) > gzipLeast {
				body = r.unzipped()
			}
			if body != string(want) {
				t.Errorf("%s %s: %.500s\nwant\n%.500s", media.Name(), part, body, want)
			}
		}
	}
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
