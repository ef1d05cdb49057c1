package form

import (
	"bytes"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/gateway/view/run"
	"github.com/wasmgate/wasmgate/storage"
)

// A list is compressed from just above the limit.
func TestTheLimitOfCompression_CMP01(t *testing.T) {
	f := Form{media: encoding.JSON, gzip: true}
	entries := []*view.Entry{view.NewEntry(kvOf("a")), view.NewEntry(kvOf("b"))}
	for _, c := range []struct {
		size int
		gzip bool
	}{{gzipLeast, false}, {gzipLeast + 1, true}} {
		s := sequence{head: []byte("["), media: encoding.JSON, items: objects{encoding.Text(bytes.Repeat([]byte("x"), c.size-5)), encoding.Text("yy")}, tail: []byte("]")}
		r, err := s.response(f, entries, run.Key{})
		if err != nil || (len(r.Headers) > 0) != c.gzip || s.length() != c.size {
			t.Errorf("%d bytes (%d): %v %v", c.size, s.length(), r, err)
		}
		body := bytes.Repeat([]byte("z"), c.size)
		one := &reply.Response{Body: body}
		if Compress(one, "gzip"); (len(one.Body) < c.size) != c.gzip || (len(one.Headers) > 0) != c.gzip {
			t.Errorf("%d bytes: %d, %v", c.size, len(one.Body), one.Headers)
		}
		tagged := &reply.Response{Body: body, Headers: []reply.Header{{Name: "Etag", Value: `"x"`}}}
		if Compress(tagged, "gzip"); len(tagged.Body) != c.size || len(tagged.Headers) != 1 {
			t.Errorf("a document of %d bytes: %d, %v", c.size, len(tagged.Body), tagged.Headers)
		}
	}
}

func kvOf(key string) storage.KV { return storage.KV{Key: key, Value: []byte("{}"), Revision: 1} }
