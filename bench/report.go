package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// report collects the measurements.
type report struct {
	rows []measurement
}

func (r *report) heading(w io.Writer) {
	fmt.Fprintf(w, "%-14s %-9s %9s %10s %9s %9s %11s %8s %6s\n", "step", "server", "ops", "ops/s", "p50 ms", "p99 ms", "CPU us/op", "RSS MB", "errors")
}

func (r *report) add(w io.Writer, m measurement) {
	r.rows = append(r.rows, m)
	fmt.Fprintf(w, "%-14s %-9s %9d %10.1f %9.2f %9.2f %11.1f %8.1f %6d\n", m.Step, m.Server, m.Ops, m.Rate, m.P50, m.P99, m.CPU, m.RSS, m.Errors)
}

// find returns the measurement of a step on a server.
func (r *report) find(step, server string) (measurement, bool) {
	for _, m := range r.rows {
		if m.Step == step && m.Server == server {
			return m, true
		}
	}
	return measurement{}, false
}

// ratio is how many times less server CPU per operation wasmgate used.
type ratio struct {
	Step string  `json:"step"`
	CPU  float64 `json:"peerCPUPerOurs"`
	Rate float64 `json:"ourRatePerPeers"`
	P50  float64 `json:"peerP50PerOurs"`
}

func (r *report) ratios() []ratio {
	var all []ratio
	for _, theirs := range r.rows {
		ours, ok := r.find(theirs.Step, "wasmgate")
		if theirs.Server != "peer" || !ok {
			continue
		}
		all = append(all, ratio{theirs.Step, quotient(theirs.CPU, ours.CPU), quotient(ours.Rate, theirs.Rate), quotient(theirs.P50, ours.P50)})
	}
	return all
}

func quotient(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// summary prints memory, the price of a conversion that was done before, and
// the ratios.
func (r *report) summary(w io.Writer, targets []*target) {
	fmt.Fprintln(w)
	for _, t := range targets {
		fmt.Fprintf(w, "%-9s memory when found %.0f MB, per object created %.1f KB\n", t.name, t.idle, t.perObject)
		for _, pair := range [][2]string{{"getconv", "get"}, {"listconv", "list"}, {"watchconv", "watch"}} {
			converted, ok := r.find(pair[0], t.name)
			if plain, ok2 := r.find(pair[1], t.name); ok && ok2 {
				fmt.Fprintf(w, "%-9s %s costs %.2f times the CPU of %s\n", t.name, pair[0], quotient(converted.CPU, plain.CPU), pair[1])
			}
		}
	}
	all := r.ratios()
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%-14s %22s %22s %22s\n", "ratios", "peer CPU / ours", "our ops/s / peer's", "peer p50 / ours")
	for _, x := range all {
		fmt.Fprintf(w, "%-14s %22.1f %22.1f %22.1f\n", x.Step, x.CPU, x.Rate, x.P50)
	}
	ours, peer := targets[0], targets[1]
	fmt.Fprintf(w, "%-14s %22.1f\n%-14s %22.1f\n", "idle memory", quotient(peer.idle, ours.idle), "per object", quotient(peer.perObject, ours.perObject))
}

// memory is a server's, in MB and KB.
type memory struct {
	Idle      float64 `json:"idleMB"`
	PerObject float64 `json:"perObjectKB"`
}

// write writes everything as JSON to a file, if one is named.
func (r *report) write(file string, targets []*target) error {
	if file == "" {
		return nil
	}
	m := map[string]memory{}
	for _, t := range targets {
		m[t.name] = memory{t.idle, t.perObject}
	}
	b, err := json.MarshalIndent(map[string]any{"rows": r.rows, "ratios": r.ratios(), "memory": m}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}
