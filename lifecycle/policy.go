package lifecycle

import (
	"fmt"
	"slices"
)

// Sort is what something is that users rely on.
type Sort int

// What the policy tells of.
const (
	// Version is a version of a kind, or of a file of settings.
	Version Sort = iota
	// Part is a field, a value or a constant of a version.
	Part
	// UserFlag is an element of a command line for users, AdminFlag of one for who runs a server.
	UserFlag
	AdminFlag
	// Behavior is what is neither, and significant.
	Behavior
	// Metric is a metric.
	Metric
)

// Element is one thing that users rely on, and its life.
type Element struct {
	Sort Sort
	Name string
	// Of is the version that a Part is in.
	Of string
	Life
}

// Violation is a rule of the policy that is broken.
type Violation struct {
	// Rule is its number, such as 4a.
	Rule string
	// What is broken, and by whom.
	What string
}

// String is one line.
func (v Violation) String() string { return "rule " + v.Rule + ": " + v.What }

// spans are numbers of releases, by stability. There are three releases a year, so
// those that the policy counts in months are the longer of both.
type spans [Stable + 1]int

// Of deprecated elements, how long they work on, by what they are; and of metrics how
// long they are there in any case.
var (
	working = map[Sort]struct {
		rule string
		spans
	}{
		UserFlag:  {"5a", spans{Beta: 1, Stable: 3}},
		AdminFlag: {"5b", spans{Beta: 1, Stable: 2}},
		Behavior:  {"7", spans{3, 3, 3}},
		Metric:    {"11b", spans{Beta: 1, Stable: 3}},
	}
	metricsLive = spans{Beta: 2, Stable: 4}
)

// betaSpan is within how many releases a version that is beta is deprecated, and after
// how many more it is gone.
const betaSpan = 3

// replacing are the rules about what replaces something.
var replacing = map[Sort]string{Version: "3", UserFlag: "5c", AdminFlag: "5c", Behavior: "8"}

// Check returns what is wrong in a release with a table of what users rely on.
func Check(table []Element, now Release) (out []Violation) {
	for _, e := range table {
		bad := func(rule, format string, args ...any) {
			out = append(out, Violation{rule, e.Name + " " + fmt.Sprintf(format, args...)})
		}
		if rule := replacing[e.Sort]; rule != "" && !e.Deprecated.IsZero() {
			if by, known := stabilityOf(table, e); known && by < e.Stability {
				bad(rule, "is %s, and replaced by %s, which is %s", e.Stability, e.Replacement, by)
			}
		}
		switch e.Sort {
		case Version:
			checkVersion(e, now, bad)
		case Part:
			i := slices.IndexFunc(table, func(v Element) bool { return v.Sort == Version && v.Name == e.Of })
			if !e.Removed.IsZero() && (i < 0 || table[i].Exists(e.Removed)) {
				bad("1", "goes in %s, and %s is there still", e.Removed, e.Of)
			}
		default:
			checkWorking(e, bad)
		}
		if e.Sort == Metric {
			checkMetric(e, now, bad)
		}
	}
	return out
}

// stabilityOf is how stable the replacement of an element is.
func stabilityOf(table []Element, e Element) (s Stability, known bool) {
	for _, by := range table {
		if by.Sort == e.Sort && by.Name == e.Replacement {
			return by.Stability, true
		}
	}
	return 0, false
}

func checkVersion(e Element, now Release, bad func(rule, format string, args ...any)) {
	switch {
	case e.Stability == Alpha:
	case e.Stability == Stable:
		if !e.Removed.IsZero() && e.Removed.Major == e.Introduced.Major {
			bad("4a", "is stable and goes in %s, the same major release", e.Removed)
		}
	case e.Deprecated.IsZero() && e.Removed.IsZero() && e.Introduced.Plus(betaSpan+1).Reached(now):
		bad("4a", "is beta since %s and not deprecated", e.Introduced)
	case e.Deprecated.IsZero() && !e.Removed.IsZero():
		bad("4a", "is beta and goes in %s without having been deprecated", e.Removed)
	case e.Introduced.Plus(betaSpan).Before(e.Deprecated):
		bad("4a", "is beta since %s and deprecated only in %s", e.Introduced, e.Deprecated)
	case !e.Removed.IsZero() && e.Removed.Before(e.Deprecated.Plus(betaSpan)):
		bad("4a", "is beta, deprecated in %s, and goes as early as %s", e.Deprecated, e.Removed)
	case !e.Deprecated.IsZero() && e.Exists(now) && e.Deprecated.Plus(betaSpan).Before(now):
		bad("4a", "is beta, deprecated in %s, and still there in %s", e.Deprecated, now)
	}
}

// checkWorking holds what is no version to how long it works once it is deprecated.
func checkWorking(e Element, bad func(rule, format string, args ...any)) {
	span := working[e.Sort]
	n := span.spans[e.Stability]
	switch {
	case e.Removed.IsZero() || n == 0:
	case e.Deprecated.IsZero():
		bad(span.rule, "goes in %s without having been deprecated", e.Removed)
	case e.Removed.Before(e.Deprecated.Plus(n)):
		bad(span.rule, "is %s, deprecated in %s, and goes in %s, before %d releases", e.Stability, e.Deprecated, e.Removed, n)
	}
}

func checkMetric(e Element, now Release, bad func(rule, format string, args ...any)) {
	if n := metricsLive[e.Stability]; !e.Removed.IsZero() && e.Removed.Before(e.Introduced.Plus(n)) {
		bad("11a", "is %s since %s, and goes in %s, before %d releases", e.Stability, e.Introduced, e.Removed, n)
	}
	if gone := e.Deprecated.Plus(hiddenAfter + 1); !e.Deprecated.IsZero() && e.Exists(now) && gone.Before(now) {
		bad("11b", "is hidden since %s, and still there in %s", gone.Plus(-1), now)
	}
}

// Of gates whose feature is stable, and of those whose feature was beta and goes.
const stableGates, betaGates = 2, 1

// CheckGates returns what is wrong with gates.
func CheckGates(table []Gate) (out []Violation) {
	for _, g := range table {
		bad := func(rule, format string, args ...any) {
			out = append(out, Violation{rule, g.Name + " " + fmt.Sprintf(format, args...)})
		}
		for i, s := range g.Stages {
			if i > 0 && (s.Stability < g.Stages[i-1].Stability || !g.Stages[i-1].Since.Before(s.Since)) {
				bad("9", "is %s in %s, after it was %s", s.Stability, s.Since, g.Stages[i-1].Stability)
			}
			if s.Stability == Alpha && s.On || s.Stability == Stable && !s.On {
				bad("9", "is %s and %t by default", s.Stability, s.On)
			}
		}
		last := g.Stages[len(g.Stages)-1]
		switch {
		case g.Removed.IsZero() || last.Stability == Alpha:
		case last.Stability == Stable:
			if g.Removed.Before(last.Since.Plus(stableGates)) {
				bad("9", "goes in %s, before %d releases of its feature being stable", g.Removed, stableGates)
			}
		case g.Deprecated.IsZero():
			bad("9", "goes in %s without having been deprecated", g.Removed)
		case g.Removed.Before(g.Deprecated.Plus(betaGates)):
			bad("9", "goes in %s, before %d release of being deprecated", g.Removed, betaGates)
		}
	}
	return out
}
