//go:build !race

package server

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// costFile keeps what each step cost when somebody last accepted it.
const costFile = "../../bench/cost.md"

var writeCosts = flag.Bool("cost.write", false, "write "+costFile+" instead of comparing with it")

// costSlack is how far above the accepted figure the allocations of a step may
// be. What two runs of the same code differ by is a tenth of that.
const costSlack = 0.03

// cost is what one operation takes of the allocator.
type cost struct{ allocations, bytes float64 }

// within reports whether c takes no more allocations than an accepted cost lets it.
func (c cost) within(accepted cost) bool {
	return c.allocations <= accepted.allocations*(1+costSlack)
}

// rounds is how often a step is done; the first time warms pools and memories.
const rounds = 7

// TestCost compares the allocations of each step with the accepted ones. After a
// change that is meant to cost more, or less:
//
//	go test ./gateway/server -run TestCost -cost.write
func TestCost(t *testing.T) {
	accepted, with := acceptedCosts(t)
	if here := buildOf(); with != here && !*writeCosts {
		t.Skipf("%s is of %s, and this is %s, whose compiler may allocate otherwise", costFile, with, here)
	}
	s := newStage(t)
	found := map[string]cost{}
	for _, step := range costSteps {
		c := s.measure(step)
		found[step.name] = c
		was, known := accepted[step.name]
		t.Logf("%-14s %7.1f allocations (%.1f), %8.0f bytes (%.0f)", step.name, c.allocations, was.allocations, c.bytes, was.bytes)
		switch {
		case *writeCosts:
		case !known:
			t.Errorf("%s is not in %s: write it with -cost.write", step.name, costFile)
		case !c.within(was):
			t.Errorf("%s makes %.1f allocations, and %s accepts %.1f: more than %g%% above. Save them, or accept them with -cost.write",
				step.name, c.allocations, costFile, was.allocations, costSlack*100)
		}
	}
	for name := range accepted {
		if _, ok := found[name]; !ok && !*writeCosts {
			t.Errorf("%s has %s, which is no step: remove it with -cost.write", costFile, name)
		}
	}
	if *writeCosts {
		if err := os.WriteFile(costFile, []byte(costTable(found, accepted)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCost_Slack: what is above the slack is found, and what is below it is not.
func TestCost_Slack(t *testing.T) {
	for found, ok := range map[float64]bool{90: true, 100: true, 102.9: true, 103.1: false} {
		if (cost{allocations: found}).within(cost{allocations: 100}) != ok {
			t.Errorf("%g of 100: %v", found, !ok)
		}
	}
}

// measure is the least of what the rounds of a step took, each without a collection
// of garbage, which empties pools.
func (s *stage) measure(step costStep) (least cost) {
	s.t.Helper()
	for round := range rounds {
		n, run := step.round(s, round)
		runtime.GC()
		percent := debug.SetGCPercent(-1)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		run()
		runtime.ReadMemStats(&after)
		debug.SetGCPercent(percent)
		c := cost{float64(after.Mallocs-before.Mallocs) / float64(n), float64(after.TotalAlloc-before.TotalAlloc) / float64(n)}
		switch round {
		case 0:
		case 1:
			least = c
		default:
			least = cost{min(least.allocations, c.allocations), min(least.bytes, c.bytes)}
		}
	}
	return least
}

// buildOf is what allocations depend on beside the code: the release of Go and the
// architecture.
func buildOf() string {
	release := strings.Join(strings.SplitN(runtime.Version(), ".", 3)[:2], ".")
	return release + " " + runtime.GOOS + "/" + runtime.GOARCH
}

var costRow = regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| ([0-9.]+) \\| ([0-9]+) \\|")

// acceptedCosts reads the file, and what they were measured with.
func acceptedCosts(t *testing.T) (accepted map[string]cost, with string) {
	t.Helper()
	text, err := os.ReadFile(costFile)
	if err != nil && !*writeCosts {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`(?m)^Measured with (.*)\.$`).FindSubmatch(text); m != nil {
		with = string(m[1])
	}
	accepted = map[string]cost{}
	for _, m := range costRow.FindAllStringSubmatch(string(text), -1) {
		allocations, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		bytes, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		accepted[m[1]] = cost{allocations, bytes}
	}
	return accepted, with
}

// costTable is the text of the file. A row stays as it is where the allocations
// are what they were, to a hundredth.
func costTable(found, accepted map[string]cost) string {
	var b strings.Builder
	b.WriteString("# What an operation allocates\n\n" +
		"Written by `go test ./gateway/server -run TestCost -cost.write`, and held by the same test without the flag,\n" +
		"which fails when the allocations of a step are more than 3% above these. [README.md](README.md) tells how it is measured.\n" +
		"A change that is meant to cost more, or less, brings the file along.\n\n" +
		"Measured with " + buildOf() + ".\n\n" +
		"| step | allocations | bytes | what one operation is |\n|---|---|---|---|\n")
	for _, step := range costSteps {
		c, was := found[step.name], accepted[step.name]
		if d := c.allocations - was.allocations; d*d <= was.allocations*was.allocations/1e4 {
			c = was
		}
		fmt.Fprintf(&b, "| `%s` | %.1f | %.0f | %s |\n", step.name, c.allocations, c.bytes, step.note)
	}
	return b.String()
}
