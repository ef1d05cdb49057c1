package proof_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/function"
	"github.com/wasmgate/wasmgate/conversion/proof"
)

// telling is a converter that tells which of its branches it takes: it drops a note
// where one item of a list has a rare text, and another one a rare number.
type telling struct {
	taken, ever map[int]bool
	values      []any
}

func newTelling() *telling {
	return &telling{map[int]bool{}, map[int]bool{}, []any{"very/special", int64(4711)}}
}

func (c *telling) take(n int) { c.taken[n], c.ever[n] = true, true }

func (c *telling) converter() conversion.Converter {
	return ways(func(o tree) {
		c.take(0)
		text, number := false, false
		all, _ := o["items"].([]any)
		for _, item := range all {
			item, _ := item.(tree)
			if item["kind"] == "very/special" {
				c.take(1)
				text = true
			} else if item["size"] == int64(4711) {
				c.take(2)
				number = true
			}
		}
		if text && number {
			c.take(3)
			delete(o, "note")
		}
	}, same)
}

func (c *telling) Taken() (all []int) {
	for n := range c.taken {
		all = append(all, n)
	}
	clear(c.taken)
	slices.Sort(all)
	return all
}

func (c *telling) Count() (taken, all int) { return len(c.ever), 4 }
func (c *telling) Values() []any           { return c.values }
func (c *telling) Near(int) []any          { return c.Values() }

var _ proof.Branches = &telling{}

// Branches lead to what is lost of objects that the schema alone does not lead to.
func TestBranchesLeadToWhatIsLost(t *testing.T) {
	const properties = `note: ` + text + `, items: {type: array, maxItems: 9, items: {type: object, properties: {kind: ` + text + `, size: ` + number + `, at: {type: string, format: date-time}}}}`
	d := define(t, properties, properties)
	for seed := range uint64(5) {
		c := newTelling()
		o := proof.Options{Seed: seed, Budget: 5 * time.Minute, Objects: 4000, Pairs: []proof.Pair{{From: "v1", To: "v2"}}}
		if got := proof.Prove(t.Context(), d, c.converter(), o); got.Verdict != proof.Lossless || got.Coverage != nil || got.Tried != o.Objects {
			t.Errorf("%d, without: %+v", seed, got)
		}
		o.Objects, o.Branches = 300, newTelling()
		got := proof.Prove(t.Context(), d, o.Branches.(*telling).converter(), o)
		if got.Verdict != proof.Lossy || len(got.Losses) != 1 || got.Losses[0].Field != "note" || got.Tried > 2*o.Objects {
			t.Errorf("%d: %+v", seed, got)
		}
		if want := (proof.Coverage{Taken: 4, All: 4}); got.Coverage == nil || *got.Coverage != want {
			t.Errorf("%d: %+v", seed, got.Coverage)
		}
	}
}

// Texts in code are words of messages, too: an object that has one fails no otherwise.
func TestWordsOfMessagesAreNoOtherFailure(t *testing.T) {
	c := newTelling()
	c.values = []any{"host", "number", "is no number", "host is no number", "no number: host"}
	var fails function.Converter = func(o map[string]any, _ string) error {
		host, ok := o["host"].(string)
		if c.take(len(host)); ok {
			return errors.New("the host is no number, no number: host")
		}
		return nil
	}
	d := define(t, `host: `+text, `host: `+text)
	got := proof.Prove(t.Context(), d, fails, proof.Options{Budget: 5 * time.Minute, Objects: 100, Branches: c, Pairs: []proof.Pair{{From: "v1", To: "v2"}}})
	if len(got.Losses) != 1 || got.Losses[0].Field != "host" || got.Losses[0].Problem != proof.Fails {
		t.Errorf("%+v", got.Losses)
	}
}

// The same seed leads to the same objects, and no more are tried than there is time for.
func TestGuidedProofsAreRepeatable(t *testing.T) {
	const properties = `note: ` + text + `, items: {type: array, items: {type: object, properties: {kind: ` + text + `, size: ` + number + `}}}`
	d := define(t, properties, properties)
	prove := func(budget time.Duration) (tried [][]byte) {
		c := newTelling()
		inner := c.converter()
		proof.Prove(t.Context(), d, recording{inner, &tried}, proof.Options{Seed: 7, Budget: budget, Objects: 100, Branches: c})
		return tried
	}
	if one, two := prove(5*time.Minute), prove(5*time.Minute); len(one) < 400 || !slices.EqualFunc(one, two, func(a, b []byte) bool { return string(a) == string(b) }) {
		t.Errorf("%d conversions, and %d", len(one), len(two))
	}
	if none := prove(time.Nanosecond); len(none) > 0 {
		t.Errorf("%d conversions in no time", len(none))
	}
}

// recording keeps what is converted.
type recording struct {
	conversion.Converter
	tried *[][]byte
}

func (r recording) Convert(ctx context.Context, desired string, objects [][]byte) ([][]byte, error) {
	*r.tried = append(*r.tried, objects...)
	return r.Converter.Convert(ctx, desired, objects)
}

// Where every larger object takes a new branch they grow no further than to a bound.
func TestGuidedObjectsStaySmall(t *testing.T) {
	const properties = `items: {type: array, items: ` + text + `}`
	d := define(t, properties, properties)
	c, largest := newTelling(), 0
	c.values = []any{strings.Repeat("long ", 5<<10)}
	converter := ways(func(o tree) {
		data, err := json.Marshal(o)
		if err != nil {
			t.Error(err)
		}
		largest = max(largest, len(data))
		c.take(int(10 * math.Log2(float64(len(data)))))
	}, same)
	proof.Prove(t.Context(), d, converter, proof.Options{Budget: 5 * time.Minute, Objects: 300, Branches: c, Pairs: []proof.Pair{{From: "v1", To: "v2"}}})
	if largest < 100<<10 || largest > 256<<10 {
		t.Errorf("the largest has %d bytes", largest)
	}
}
