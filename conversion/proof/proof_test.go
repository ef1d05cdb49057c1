package proof_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/proof"
)

// Each converter that loses something is found out, with a small example that names
// the field; its twin passes.
func TestWhatIsLostIsFound(t *testing.T) {
	sources := map[string]bool{}
	for _, c := range append(lossy, published...) {
		if c.source != "" {
			sources[c.source] = true
		}
		t.Run(c.name, func(t *testing.T) {
			d := define(t, c.v1, c.v2)
			o := proof.Options{Budget: 5 * time.Minute, Objects: 500}
			if c.oneWay {
				o.Pairs = []proof.Pair{{From: "v1", To: "v2"}}
			}
			started := time.Now()
			wrong := proof.Prove(t.Context(), d, c.wrong, o)
			took := time.Since(started)
			if wrong.Verdict != proof.Lossy {
				t.Fatalf("the verdict is %+v", wrong)
			}
			problem := c.problem
			if problem == "" {
				problem = proof.Lost
			}
			if !slices.ContainsFunc(wrong.Losses, func(l proof.Loss) bool { return l.Field == c.field && l.Problem == problem }) {
				t.Errorf("%s of %s was not found, but %+v", problem, c.field, wrong.Losses)
			}
			t.Logf("%d objects, %d losses, %s, the first is\n%s", wrong.Tried, len(wrong.Losses), took, wrong.Losses[0].Example)
			for _, l := range wrong.Losses {
				if n := strings.Count(l.Example, "\n"); n > 15 || n == 0 {
					t.Errorf("the example of %s has %d lines:\n%s", l.Field, n, l.Example)
				}
			}
			if good := proof.Prove(t.Context(), d, c.good, o); good.Verdict != proof.Lossless || good.Tried == 0 {
				t.Errorf("the twin: %+v", good)
			}
		})
	}
	if len(sources) < 25 {
		t.Errorf("%d of them were published", len(sources))
	}
}

// Objects that the version's own rules refuse are passed by: the others are tried, until
// each field was in one of them.
func TestObjectsThatRulesRefuseArePassedBy(t *testing.T) {
	const spec = `spec: {type: object, required: [range], properties: {range: {type: object, properties: {low: {type: integer, default: 3}, high: {type: integer}, name: {type: string}},
		x-kubernetes-validations: [{rule: "!has(self.high) || !has(self.name)"}]}}}`
	for _, most := range []int{40, 200} {
		got := proof.Prove(t.Context(), define(t, spec, spec), ways(same, same), proof.Options{Budget: 5 * time.Minute, Objects: most, Pairs: []proof.Pair{{From: "v1", To: "v2"}}})
		if got.Verdict != proof.Lossless || got.Tried != most {
			t.Errorf("of %d: %+v", most, got)
		}
	}
}

// A proof that had no time, or met a failure that is no converter's, may come to more
// another time; one for which there are no objects may not.
func TestAnotherTryMayComeToMore(t *testing.T) {
	const spec = `spec: {type: object, properties: {a: {type: string}}}`
	busy := errors.New("busy")
	for name, c := range map[string]struct {
		spec      string
		converter conversion.Converter
		budget    time.Duration
		again     bool
	}{
		"no time":      {spec, ways(same, same), time.Nanosecond, true},
		"a busy one":   {spec, busyAs{busy}, 5 * time.Minute, true},
		"no objects":   {`spec: {type: object, required: [a], properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.a == 'no text comes to this'"}]}`, ways(same, same), 5 * time.Minute, false},
		"nothing lost": {spec, ways(same, same), 5 * time.Minute, false},
	} {
		got := proof.Prove(t.Context(), define(t, c.spec, c.spec), c.converter, proof.Options{Budget: c.budget, Objects: 20, Temporary: func(err error) bool { return errors.Is(err, busy) }})
		if got.Again != c.again || c.again && got.Verdict != proof.Unknown {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Who interrupts a proof is not told that its time was up.
func TestAnInterruptionIsToldAsSuch(t *testing.T) {
	const spec = `spec: {type: object, properties: {a: {type: string}}}`
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	for name, c := range map[string]struct {
		ctx    context.Context
		budget time.Duration
		why    string
	}{
		"interrupted": {interrupted, 5 * time.Minute, "v1:v2: it was interrupted: 0 objects were tried, which have 0 of 2 fields"},
		"no time":     {t.Context(), time.Nanosecond, "v1:v2: the time is up: 0 objects were tried, which have 0 of 2 fields"},
	} {
		got := proof.Prove(c.ctx, define(t, spec, spec), ways(same, same), proof.Options{Budget: c.budget, Pairs: []proof.Pair{{From: "v1", To: "v2"}}})
		if got.Verdict != proof.Unknown || !got.Again || got.Why != c.why {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// late is a context whose deadline has passed a moment ago, and that nobody has ended yet.
type late struct{ context.Context }

func (late) Deadline() (time.Time, bool) { return time.Now().Add(-time.Millisecond), true }

// What a converter makes of the end of the time is no failure of the converter, also where
// it sees the end first.
func TestTheEndOfTheTimeIsNoFailure(t *testing.T) {
	const spec = `spec: {type: object, properties: {a: {type: string}}}`
	got := proof.Prove(late{t.Context()}, define(t, spec, spec), busyAs{context.DeadlineExceeded}, proof.Options{Budget: 5 * time.Minute, Objects: 20, Pairs: []proof.Pair{{From: "v1", To: "v2"}}})
	if got.Verdict != proof.Unknown || !got.Again || len(got.Losses) > 0 || !strings.HasPrefix(got.Why, "v1:v2: the time is up: ") {
		t.Errorf("%+v", got)
	}
}

// Of a conversion that differs each time the example is as small as of any other loss.
func TestExamplesOfUnstableConversionsAreSmall(t *testing.T) {
	n := 0
	c := ways(func(o tree) {
		if _, ok := o["a"]; ok {
			n++
			o["a"] = fmt.Sprint(n)
		}
	}, same)
	const properties = `a: ` + text + `, b: ` + text + `, c: {type: object, properties: {d: ` + text + `}}`
	got := proof.Prove(t.Context(), define(t, properties, properties), c, proof.Options{Budget: 5 * time.Minute, Objects: 50, Pairs: []proof.Pair{{From: "v1", To: "v2"}}})
	found := slices.IndexFunc(got.Losses, func(l proof.Loss) bool { return l.Problem == proof.Unstable && l.Field == "a" })
	if found < 0 {
		t.Fatalf("%+v", got)
	}
	if example := got.Losses[found].Example; strings.Contains(example, "\nb:") || strings.Contains(example, "\nc:") || !strings.Contains(example, "\nkind: Widget") {
		t.Errorf("there is more in it than it takes:\n%s", example)
	}
}

// Of one object it is told what it loses, and if it is none of any version, or not valid.
func TestWhatOneObjectLoses(t *testing.T) {
	const properties = `a: ` + text + `, b: ` + text
	d := define(t, properties, properties)
	c := ways(func(o tree) { delete(o, "a") }, same)
	widget := func(version string, a any) tree {
		return tree{"apiVersion": "example.com/" + version, "kind": "Widget", "metadata": tree{"name": "n", "namespace": "default"}, "a": a, "b": "y"}
	}
	losses, err := proof.Try(t.Context(), d, c, widget("v1", "x"), proof.Options{})
	if err != nil || len(losses) != 1 || losses[0].Field != "a" || losses[0].Pair != (proof.Pair{From: "v1", To: "v2"}) || losses[0].Had != `"x"` {
		t.Errorf("%+v, %v", losses, err)
	}
	for name, obj := range map[string]tree{"no version": widget("v9", "x"), "not valid": widget("v1", int64(1))} {
		if losses, err := proof.Try(t.Context(), d, c, obj, proof.Options{}); err == nil {
			t.Errorf("%s: %+v", name, losses)
		}
	}
}

// busyAs converts nothing, and says why.
type busyAs struct{ err error }

func (f busyAs) Convert(context.Context, string, [][]byte) ([][]byte, error) { return nil, f.err }
func (busyAs) Epoch() uint64                                                 { return 1 }
