package formats

import (
	"maps"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A driver of storage is given so many parameters, with so many bytes, which have names.
func TestParametersOfDrivers(t *testing.T) {
	many := func(n int) map[string]any {
		out := map[string]any{}
		for i := range n {
			out["p"+strconv.Itoa(i)] = ""
		}
		return out
	}
	for name, c := range map[string]struct {
		given map[string]any
		want  string
	}{
		"none":      {nil, ""},
		"some":      {map[string]any{"a": "b", "c": ""}, ""},
		"no name":   {map[string]any{"": "b"}, "field can not be empty."},
		"many":      {many(512), ""},
		"too many":  {many(513), "may not be more than 512 bytes"},
		"large":     {map[string]any{"a": "b", "c": strings.Repeat("x", 256<<10-3)}, ""},
		"too large": {map[string]any{"ab": "b", "c": strings.Repeat("x", 256<<10-3)}, "may not be more than 262144 bytes"},
	} {
		errs := parameters(maps.Clone(c.given), field.NewPath("parameters"))
		if (len(errs) > 0) != (c.want != "") || len(errs) > 0 && !strings.Contains(errs.ToAggregate().Error(), c.want) {
			t.Errorf("%s: %v", name, errs)
		}
	}
}

// Requests are dealt to as many queues as the bits of a hash suffice for; hands that are
// none are for the rules of their fields.
func TestQueuesThatAreDealt(t *testing.T) {
	for of, good := range map[[2]int64]bool{
		{64, 10}: true, {64, 11}: false, {65, 10}: false, {32, 12}: true, {32, 13}: false,
		{16, 16}: false, {16, 17}: true, {1 << 61, 1}: false, {1 << 60, 1}: true, {1 << 60, 0}: true, {0, 0}: true,
	} {
		if errs := dealtQueues(map[string]any{"queues": of[0], "handSize": of[1]}, field.NewPath("queuing")); (len(errs) == 0) != good {
			t.Errorf("%v: %v", of, errs)
		}
	}
}
