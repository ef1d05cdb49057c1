package api

import (
	"context"
	"fmt"
	"io"
	"testing"
)

// taken is what a client of a watch took, until enough events came.
type taken struct {
	enough, frames int
	done           func()
}

// Write implements [reply.FrameWriter].
func (t *taken) Write(p []byte) (int, error) { return len(p), nil }

// Frame implements [reply.FrameWriter].
func (t *taken) Frame(_, _ []byte, _ string) {
	if t.frames++; t.frames == t.enough {
		t.done()
	}
}

// Hold implements [reply.FrameWriter].
func (*taken) Hold(func() bool) {}

// Flush implements [reply.FrameWriter].
func (*taken) Flush() error { return nil }

// BenchmarkReads is what reads of 300 objects cost within the process: of one, of a
// page, of all and of a watch that begins with them, in each encoding.
func BenchmarkReads(b *testing.B) {
	w := newWorld(b, func(c *Setup) { c.Observer = uncounted{} })
	const many = 300
	for i := range many {
		w.do("POST", configMaps, configMap(fmt.Sprintf("n%03d", i), "some text to be read")).want(201, "")
		w.do("POST", widgets, a(fmt.Sprintf("n%03d", i), `"size":1`)).want(201, "")
	}
	const metadata = ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	for _, accept := range []string{
		"application/json", "application/vnd.kubernetes.protobuf", "application/yaml",
		"application/json" + metadata, "application/vnd.kubernetes.protobuf" + metadata,
	} {
		for kind, path := range map[string]string{"custom": widgets, "builtin": configMaps} {
			if kind == "custom" && accept == "application/vnd.kubernetes.protobuf" {
				continue
			}
			for name, query := range map[string]string{"get": "/n007?resourceVersion=0", "latest": "/n007", "page": "?resourceVersion=0&limit=100", "all": "?resourceVersion=0"} {
				b.Run(name+"/"+kind+"/"+accept, func(b *testing.B) { w.reads(b, request("GET", path+query, "", "Accept: "+accept)) })
			}
			if accept != "application/yaml" {
				r := request("GET", path+"?watch=1&resourceVersion=0", "", "Accept: "+accept)
				b.Run("watch/"+kind+"/"+accept, func(b *testing.B) { w.follows(b, r, many) })
			}
		}
	}
}

func (w *world) reads(b *testing.B, r *Request) {
	b.ReportAllocs()
	for b.Loop() {
		resp := w.Serve(r)
		if resp.Code != 200 {
			b.Fatalf("%d %s", resp.Code, resp.Body)
		}
		var err error
		if resp.Write != nil {
			err = resp.Write(io.Discard)
		}
		if resp.Reader != nil {
			_, err = io.Copy(io.Discard, resp.Reader)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func (w *world) follows(b *testing.B, r *Request, many int) {
	b.ReportAllocs()
	for b.Loop() {
		ctx, cancel := context.WithCancel(b.Context())
		resp := w.Serve(r)
		if resp.Stream == nil {
			b.Fatalf("%d %s", resp.Code, resp.Body)
		}
		resp.Stream(ctx, &taken{enough: many, done: cancel})
		cancel()
	}
}
