package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/wasmgate/wasmgate/bench/workload"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/registry"
	"github.com/wasmgate/wasmgate/plugins/wasm"
)

// BenchmarkSteady makes calls, every hundredth of which fails in the guest, and
// shows what grew between the first 20,000 of them and the end: memory of the process, of
// Go's heap and of idle instances, goroutines, open files. A million are
//
//	go test ./bench -run '^$' -bench Steady -benchtime 1000000x
func BenchmarkSteady(b *testing.B) {
	e, err := wasm.NewEngine(context.Background(), wasm.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close(context.Background())
	r := registry.New(registry.Config{Compiler: e})
	defer func() {
		if err := r.Close(context.Background()); err != nil {
			b.Error(err)
		}
	}()
	echo := plugintest.Echo("{}")
	for name, module := range map[string][]byte{
		"bench": plugintest.Build(b, "github.com/wasmgate/wasmgate/bench/module"),
		"trap":  echo.With(string(plugins.Convert), plugintest.Hook(plugintest.Trap...)).Bytes(),
		"lie":   echo.With(string(plugins.Convert), plugintest.HookReturning(0xffffff00, 1<<20)).Bytes(),
	} {
		if _, err := r.Set(b.Context(), name, plugins.Revision{Bytes: module, Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(module))}); err != nil {
			b.Fatal(err)
		}
	}
	object := [][]byte{workload.Object(1, 0)}
	call := func(i int) {
		name := "bench"
		switch i % 200 {
		case 0:
			name = "trap"
		case 100:
			name = "lie"
		}
		if _, err := r.Converter(name).Convert(b.Context(), workload.Group+"/v2", object); (err != nil) != (name != "bench") {
			b.Fatal(name, err)
		}
	}
	for i := range 20_000 {
		call(i)
	}
	before := holdings(r)
	b.ResetTimer()
	for i := range b.N {
		call(i)
	}
	b.StopTimer()
	for what, n := range holdings(r) {
		b.ReportMetric(n-before[what], "more-"+what)
		b.ReportMetric(n, what)
	}
}

// holdings is what this process holds, after it gave back what it does not need.
func holdings(r *registry.Registry) map[string]float64 {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd")
	idle := int64(0)
	for _, s := range r.Instances() {
		idle += s.IdleSize
	}
	self := &target{pid: os.Getpid()}
	return map[string]float64{
		"rss-MB": self.usage().rss, "heap-MB": float64(m.HeapAlloc) / 1e6, "idle-MB": float64(idle) / 1e6,
		"goroutines": float64(runtime.NumGoroutine()), "files": float64(len(files)),
	}
}
