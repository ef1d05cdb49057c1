// Command bench drives a wasmgate, and a kube-apiserver beside it when given
// its address, through what a custom resource with two versions causes, and
// prints throughput, latency, the server's own CPU time per operation and its
// memory, and the ratios between the two. See README.md.
//
// It owns the steps, the load and how both are measured. It knows the servers
// only over the network, and their processes through /proc. It must not import
// the gateway.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/wasmgate/wasmgate/bench/workload"
)

// config is what the flags say.
type config struct {
	conv     string
	wasm     string
	objects  int
	more     int
	clients  int
	duration time.Duration
	watchers int
	updates  int
	steps    string
	json     string
	keep     bool

	definitions int
	changes     int
}

func main() {
	var c config
	ours, peer := &target{name: "wasmgate"}, &target{name: "peer"}
	flag.StringVar(&ours.url, "url", "https://127.0.0.1:6443", "address of the wasmgate")
	flag.StringVar(&ours.token, "token", "", "its bearer token")
	flag.IntVar(&ours.pid, "pid", 0, "its process id, for CPU and memory")
	flag.StringVar(&peer.url, "peer", "", "address of a kube-apiserver to compare with")
	flag.StringVar(&peer.token, "peer-token", "", "its bearer token")
	flag.IntVar(&peer.pid, "peer-pid", 0, "its process id")
	flag.StringVar(&c.conv, "conv", "wasm://bench", "how the wasmgate converts: none, webhook, or wasm://NAME (the peer uses the webhook, unless none)")
	flag.StringVar(&c.wasm, "wasm", "", "the module to upload for wasm://NAME; empty builds bench/module")
	flag.IntVar(&c.objects, "n", 10000, "objects")
	flag.IntVar(&c.more, "more", 0, "items more in the keyed list of each object")
	flag.IntVar(&c.clients, "c", 32, "concurrent clients")
	flag.DurationVar(&c.duration, "d", 5*time.Second, "length of each step that only reads")
	flag.IntVar(&c.watchers, "watchers", 500, "watchers in the fan-out steps")
	flag.IntVar(&c.updates, "updates", 200, "updates in the fan-out steps")
	flag.IntVar(&c.definitions, "definitions", 500, "definitions in the steps about many of them")
	flag.IntVar(&c.changes, "changes", 10, "definitions changed in those steps")
	flag.StringVar(&c.steps, "steps", strings.Join(stepNames(), ","), "steps to run, in this order; also "+crowdSteps()+", "+mapSteps()+", "+memorySteps()+", and "+slowSteps())
	flag.StringVar(&c.json, "json", "", "also write the results to this file")
	flag.BoolVar(&c.keep, "keep", false, "keep the objects at the end")
	flag.Parse()
	targets := []*target{ours}
	if peer.url != "" {
		targets = append(targets, peer)
	}
	if err := run(c, targets); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run takes all targets through one step before the next, so that both are
// measured under the same conditions.
func run(c config, targets []*target) error {
	steps, err := selectSteps(c.steps)
	if err != nil {
		return err
	}
	r := &report{}
	for _, t := range targets {
		if err := prepare(c, t); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		if !c.keep {
			defer t.do("DELETE", crdPath+"/"+workload.Definition, "", "", nil)
			if slices.ContainsFunc(steps, func(s step) bool { return s.name == "define" }) {
				defer undefine(c, t)
			}
			if slices.ContainsFunc(steps, func(s step) bool { return s.name == "maps" }) {
				defer unmap(t)
			}
		}
	}
	r.heading(os.Stdout)
	for _, s := range steps {
		for _, t := range targets {
			m, err := s.run(c, t)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", t.name, s.name, err)
			}
			m.Step, m.Server = s.name, t.name
			if m.Note != "" { // what the step found besides
				fmt.Printf("%-9s %s: %s\n", t.name, s.name, m.Note)
			} else {
				m.Note = s.note
			}
			m.RSS = t.usage().rss
			r.add(os.Stdout, m)
			if s.name == "create" {
				t.perObject = (m.RSS - t.before) * 1000 / float64(c.objects)
			}
		}
	}
	r.summary(os.Stdout, targets)
	return r.write(c.json, targets)
}
