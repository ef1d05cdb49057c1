package api

import (
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// uncounted is an observer that costs nothing.
type uncounted struct{}

func (uncounted) Begin(*Info, bool) func(Outcome) { return func(Outcome) {} }

func (uncounted) Deprecated(*Info, string)         {}
func (uncounted) Versioned(*Info, resource.Caller) {}
func (uncounted) Watching(*Info) func(int)         { return func(int) {} }
func (uncounted) Listed(*Info, time.Duration)      {}

// BenchmarkServe is one get within the process.
func BenchmarkServe(b *testing.B) {
	w := newWorld(b, func(c *Setup) { c.Observer = uncounted{} })
	w.do("POST", widgets, a("one", `"size":1`)).want(201, "")
	for name, url := range map[string]string{"consistent": widgets + "/one", "cached": widgets + "/one?resourceVersion=0"} {
		r := request("GET", url, "")
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if resp := w.Serve(r); resp.Code != 200 {
					b.Fatalf("%d", resp.Code)
				}
			}
		})
	}
}
