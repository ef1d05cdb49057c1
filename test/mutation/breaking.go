package main

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// variable tells the test program which place is broken, by its number.
const variable = "WASMGATE_MUTATION"

// kit is added to the package: what is called at the places.
const kit = `
import ("cmp"; "os"; "strconv")

var mutatedPlace, _ = strconv.Atoi(os.Getenv("` + variable + `"))

type mutatedNumber interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float64
}

func mutatedIs(n int, v bool) bool { return v != (mutatedPlace == n) }

func mutatedLess[T cmp.Ordered](n int, a, b T) bool { return a < b || mutatedPlace == n && a == b }

func mutatedMost[T cmp.Ordered](n int, a, b T) bool { return a < b || mutatedPlace != n && a == b }

func mutatedAnd(n int, a bool, b func() bool) bool {
	if mutatedPlace == n {
		return a || b()
	}
	return a && b()
}

func mutatedOr(n int, a bool, b func() bool) bool {
	if mutatedPlace == n {
		return a && b()
	}
	return a || b()
}

func mutatedErr(n int, err error) error {
	if mutatedPlace == n {
		return nil
	}
	return err
}

func mutatedMore[T mutatedNumber](n int, a T) T {
	if mutatedPlace == n {
		return a
	}
	return a + 1
}

func mutatedFewer[T mutatedNumber](n int, a T) T {
	if mutatedPlace == n {
		return a
	}
	return a - 1
}
`

// broken is a text in which each of some places asks whether it is the broken one.
func broken(text []byte, places []*place) string {
	var edits []edit
	for _, p := range places {
		for _, e := range p.edits {
			e.text = strings.ReplaceAll(e.text, "#", strconv.Itoa(p.number))
			edits = append(edits, e)
		}
	}
	slices.SortStableFunc(edits, before)
	var out strings.Builder
	at := 0
	for _, e := range edits {
		if e.from > at {
			out.Write(text[at:e.from])
			at = e.from
		}
		out.WriteString(e.text)
		at = max(at, e.to)
	}
	out.Write(text[at:])
	return out.String()
}

// before puts edits in order. At one offset what ends there comes first, the inner before
// the outer; then what begins there, the outer before the inner; then what is replaced.
func before(a, b edit) int {
	if c := cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.stage(), b.stage())); c != 0 {
		return c
	}
	if a.stage() == ends {
		return cmp.Compare(b.of[0], a.of[0])
	}
	return cmp.Compare(b.of[1], a.of[1])
}

// The edits at one offset, in order.
const (
	ends = iota
	begins
	replaces
)

func (e edit) stage() int {
	switch {
	case e.to > e.from || e.text == "":
		return replaces
	case e.from == e.of[1] && e.from != e.of[0]:
		return ends
	}
	return begins
}
