package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// BenchmarkBesideHostileModules measures what others notice of a hostile module
// that two clients ask for all the time, every 20 ms at most: the latency of a plain read, and of a
// write that another module converts, with the ratio to that without the
// hostile one, which is measured in turn; and how much of a processor the gateway
// takes for the two clients alone, which says something on a busy machine too.
func BenchmarkBesideHostileModules(b *testing.B) {
	harness.SkipExternal(b)
	g := harness.Start(b, harness.Options{})
	good, hostile := "good-"+unique(), "hostile-"+unique()
	pushModule(b, g.API(b), good, harness.Module(b, crontabModule))
	pushModule(b, g.API(b), hostile, plugintest.Build(b, plugintest.Hostile))
	c, h := newWasmCronTabs(b, &g.Server, good), newCronTabs(b, &g.Server, func(crd object) {
		crd.Set("spec.conversion", wasmConversion(hostile))
		storeAt(crd, "v1beta1")
		for _, v := range crd.At("spec.versions").([]any) {
			object(v.(map[string]any)).Set("schema.openAPIV3Schema.x-kubernetes-preserve-unknown-fields", true)
		}
	})
	c.api.Post(c.list("v1beta1"), c.object("v1beta1", "plain", `{}`)).Want(201)
	converted := c.object("v1", "converted", `{}`)
	converted["host"], converted["port"] = "h", "1"
	ask := map[string]func(){
		"read":    func() { c.api.Get(c.path("v1beta1", "plain")).Want(200) },
		"convert": func() { c.api.Post(c.list("v1")+"?dryRun=All", converted).Want(201) },
	}
	echo := plugintest.Echo("")
	for _, guest := range []struct {
		name, mode string
		module     []byte // nil for the Go module, in a mode
	}{
		{"loop", "loop", nil}, {"memory", "memory", nil}, {"giant reply", "huge", nil}, {"panic", "panic", nil}, {"exit", "exit", nil},
		{"loop without allocation", "", echo.With("wasmgate_convert", plugintest.Hook(plugintest.Forever...)).Bytes()},
		{"recursion", "", echo.With("wasmgate_convert", plugintest.Hook(plugintest.Join([]byte{0x20, 0, 0x20, 1}, plugintest.Call(echo.Index("wasmgate_convert")))...)).Bytes()},
		{"memory without end", "", echo.With("wasmgate_convert", plugintest.Hook(0x03, 0x40, 0x41, 1, 0x40, 0, 0x1a, 0x0c, 0, 0x0b, 0)).Bytes()},
		{"lying pointer", "", echo.With("wasmgate_convert", plugintest.HookReturning(0xffffff00, 1<<20)).Bytes()},
	} {
		b.Run(guest.name, func(b *testing.B) {
			if guest.module != nil {
				content(h.api, hostile, guest.module).Want(200, 201)
				digest := fmt.Sprintf("sha256:%x", sha256.Sum256(guest.module))
				h.api.Eventually(modulePath+"/"+hostile, func(r *harness.Reply) bool {
					return r.Str("status.digest") == digest
				})
			}
			var paths []string
			for range 2 { // of one object there would be one call for both
				o := h.object("v1beta1", "o-"+unique(), `{}`)
				o["mode"] = guest.mode
				h.api.Post(h.list("v1beta1"), o).Want(201)
				paths = append(paths, h.path("v1", o.Str("metadata.name")))
			}
			for b.Loop() {
				alone, beside := map[string][]time.Duration{}, map[string][]time.Duration{}
				for range 3 {
					measure(alone, ask)
					stop := harass(g, paths)
					measure(beside, ask)
					stop()
				}
				for name := range ask {
					b.ReportMetric(ms(beside[name], 50), "ms-"+name+"-p50")
					b.ReportMetric(ms(beside[name], 50)/ms(alone[name], 50), "x-"+name+"-p50")
					b.ReportMetric(ms(beside[name], 99)/ms(alone[name], 99), "x-"+name+"-p99")
				}
			}
			begun, used := time.Now(), processorTime(b, g.PID())
			stop := harass(g, paths)
			<-time.After(3 * time.Second)
			stop()
			b.ReportMetric(100*(processorTime(b, g.PID())-used).Seconds()/time.Since(begun).Seconds(), "%-cpu-hostile")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// measure does each for a second and notes how long it took each time.
func measure(took map[string][]time.Duration, ask map[string]func()) {
	for name, do := range ask {
		for begun := time.Now(); time.Since(begun) < time.Second; {
			from := time.Now()
			do()
			took[name] = append(took[name], time.Since(from))
		}
	}
}

// processorTime is what a process has used, where the system tells.
func processorTime(b *testing.B, pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Skip(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err := errors.Join(err1, err2); err != nil {
		b.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond // a tick
}

// harass has a client for each path ask for it until stop is called.
func harass(g *harness.Gateway, paths []string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	for _, path := range paths {
		clients.Go(func() {
			pace := time.NewTicker(20 * time.Millisecond)
			defer pace.Stop()
			for ctx.Err() == nil {
				if reply, err := g.API(nil).Open(ctx, path); err == nil {
					_, _ = io.Copy(io.Discard, reply.Body)
					reply.Body.Close()
				}
				<-pace.C
			}
		})
	}
	return func() {
		cancel()
		clients.Wait()
	}
}

// ms is a percentile in milliseconds.
func ms(took []time.Duration, percent int) float64 {
	slices.Sort(took)
	return took[(len(took)-1)*percent/100].Seconds() * 1000
}
