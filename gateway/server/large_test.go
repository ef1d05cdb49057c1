//go:build !race

package server

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"testing"

	"github.com/wasmgate/wasmgate/bench/workload"
	"github.com/wasmgate/wasmgate/gateway/api"
)

// BenchmarkLarge writes an object of 300 KB again and again, whose least part changes: a
// list of 10,000 texts, and one of 3,000 containers that have keys.
func BenchmarkLarge(b *testing.B) {
	s := newStage(b)
	texts, keyed := workload.Fat(1), workload.Object(2, 3000)
	for i, c := range []struct {
		name   string
		body   []byte
		change func(s *stage, path string) func(n int)
	}{
		{"merge/texts", texts, (*stage).merging}, {"merge/keyed", keyed, (*stage).merging},
		{"json/texts", texts, (*stage).patching}, {"json/keyed", keyed, (*stage).patching},
		{"put/texts", texts, (*stage).putting}, {"put/keyed", keyed, (*stage).putting},
		{"apply/texts", texts, (*stage).applied}, {"apply/keyed", keyed, (*stage).applied},
	} {
		b.Run(c.name, func(b *testing.B) {
			path := workload.Path("v1", 1000+i)
			name := func(n int) []byte { return fmt.Appendf(nil, `"name":"ep-%d"`, n) }
			body := bytes.Replace(bytes.Replace(c.body, name(1), name(1000+i), 1), name(2), name(1000+i), 1)
			if r := request("GET", path, ""); s.answer(r, io.Discard) == 404 {
				s.want(201, "POST", workload.Collection("v1"), string(body))
			}
			change := c.change(s, path)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n++
				change(n)
			}
		})
	}
}

func (s *stage) merging(path string) func(n int) {
	return func(n int) {
		s.discard(request("PATCH", path, `{"spec":{"replicas":`+strconv.Itoa(n+10)+`}}`, mergePatch))
	}
}

func (s *stage) applied(path string) func(n int) {
	return func(n int) {
		s.discard(request("PATCH", path+"?fieldManager=one&force=true", `{"apiVersion":"bench.example.com/v1","kind":"Endpoint","spec":{"replicas":`+strconv.Itoa(n+10)+`}}`, applyPatch))
	}
}

// answer is serve, and gives back the memory that the reply was given.
func (s *stage) answer(r *api.Request, w io.Writer) int {
	resp := s.handler.Serve(r)
	if resp.Done != nil {
		defer resp.Done()
	}
	return s.write(r, resp, w)
}

func (s *stage) discard(r *api.Request) {
	if code := s.answer(r, io.Discard); code != 200 {
		s.t.Fatalf("%s %s: %d", r.Method, r.Path, code)
	}
	rest()
}

func (s *stage) patching(path string) func(n int) {
	return func(n int) {
		s.discard(request("PATCH", path, `[{"op":"replace","path":"/spec/replicas","value":`+strconv.Itoa(n+10)+`}]`, "application/json-patch+json"))
	}
}

// putting sends what the reply before said, with another number.
func (s *stage) putting(path string) func(n int) {
	var now bytes.Buffer
	now.Write(s.want(200, "GET", path, ""))
	return func(n int) {
		head, tail, _ := bytes.Cut(now.Bytes(), []byte(`"replicas":`))
		r := request("PUT", path, string(head)+`"replicas":`+strconv.Itoa(n+10)+string(bytes.TrimLeft(tail, "0123456789")))
		now.Reset()
		if code := s.answer(r, &now); code != 200 {
			s.t.Fatalf("%d %.500s", code, now.Bytes())
		}
		rest()
	}
}
