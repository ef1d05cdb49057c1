package e2e

import (
	"fmt"
	"math"
	"testing"

	"github.com/anishathalye/porcupine"
)

// The verbs of a history. A put is an update of what was read before, which the
// server must refuse when the object is not that any more; a patch says nothing
// of it.
const (
	histCreate = "create"
	histRead   = "read"
	histPut    = "put"
	histPatch  = "patch"
	histDelete = "delete"
)

// histInput is what a client asks for. Every write has a value of its own.
type histInput struct {
	verb, name string
	// was is the value that a put replaces.
	was, value string
}

// histOutput is what a client was told.
type histOutput struct {
	// outcome is one of the constants below.
	outcome string
	// value is what was read.
	value string
}

const (
	histDone     = "done"
	histMissing  = "missing"  // 404
	histExists   = "exists"   // 409 of a create
	histConflict = "conflict" // 409 of a put
	// histUnknown: nobody knows whether it was or will be done.
	histUnknown = "unknown"
)

// never is the end of what may still happen after the history.
const never = math.MaxInt64

// oneObject is a correct object: absent, "", or with a value. Objects do not
// depend on each other, so that a history is checked object by object.
var oneObject = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		var out [][]porcupine.Operation
		index := map[string]int{}
		for _, op := range history {
			name := op.Input.(histInput).name
			i, ok := index[name]
			if !ok {
				i = len(out)
				index[name], out = i, append(out, nil)
			}
			out[i] = append(out[i], op)
		}
		return out
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		return step(state.(string), input.(histInput), output.(histOutput))
	},
	DescribeOperation: func(input, output any) string {
		in, out := input.(histInput), output.(histOutput)
		return fmt.Sprintf("%s %s %s>%s: %s %s", in.verb, in.name, in.was, in.value, out.outcome, out.value)
	},
}

// step is what one operation does to an object, and whether what the client was
// told is true. One whose outcome is unknown may come at any time, and so also
// after everything else, as if it never had been done.
func step(state string, in histInput, out histOutput) (bool, string) {
	there := state != ""
	after, honest := state, histMissing
	switch in.verb {
	case histRead:
		if there {
			honest = histDone
		}
		return out.outcome == honest && out.value == state, state
	case histCreate:
		if honest = histExists; !there {
			after, honest = in.value, histDone
		}
	case histPut:
		switch {
		case there && state == in.was:
			after, honest = in.value, histDone
		case there:
			honest = histConflict
		}
	case histPatch:
		if there {
			after, honest = in.value, histDone
		}
	case histDelete:
		if there {
			after, honest = "", histDone
		}
	}
	return out.outcome == honest || out.outcome == histUnknown, after
}

// TestOneObject is about what the model of an object explains.
func TestOneObject_RV05(t *testing.T) {
	op := func(begun, ended int64, verb, was, value, outcome, read string) porcupine.Operation {
		return porcupine.Operation{Input: histInput{verb, "o", was, value}, Call: begun, Output: histOutput{outcome, read}, Return: ended}
	}
	made := op(0, 1, histCreate, "", "a", histDone, "")
	for name, c := range map[string]struct {
		explained bool
		ops       []porcupine.Operation
	}{
		"a stale read":                     {false, []porcupine.Operation{made, op(2, 3, histPatch, "", "b", histDone, ""), op(4, 5, histRead, "", "", histDone, "a")}},
		"a read beside a write":            {true, []porcupine.Operation{made, op(2, 5, histPatch, "", "b", histDone, ""), op(3, 4, histRead, "", "", histDone, "a")}},
		"a lost update":                    {false, []porcupine.Operation{made, op(2, 5, histPut, "a", "b", histDone, ""), op(2, 5, histPut, "a", "c", histDone, "")}},
		"a refused update":                 {true, []porcupine.Operation{made, op(2, 5, histPut, "a", "b", histDone, ""), op(2, 5, histPut, "a", "c", histConflict, "")}},
		"a refusal without a reason":       {false, []porcupine.Operation{made, op(2, 5, histPut, "a", "b", histConflict, "")}},
		"two creations":                    {false, []porcupine.Operation{made, op(2, 3, histCreate, "", "b", histDone, "")}},
		"an object that is gone":           {false, []porcupine.Operation{made, op(2, 3, histRead, "", "", histMissing, "")}},
		"a deletion that may be done":      {true, []porcupine.Operation{made, op(2, never, histDelete, "", "", histUnknown, ""), op(3, 4, histRead, "", "", histDone, "a"), op(5, 6, histRead, "", "", histMissing, "")}},
		"one that was done once":           {false, []porcupine.Operation{made, op(2, never, histDelete, "", "", histUnknown, ""), op(3, 4, histRead, "", "", histMissing, ""), op(5, 6, histCreate, "", "b", histDone, ""), op(7, 8, histRead, "", "", histMissing, "")}},
		"a write that came after a crash":  {true, []porcupine.Operation{made, op(2, never, histPatch, "", "b", histUnknown, ""), op(3, 4, histRead, "", "", histDone, "a"), op(5, 6, histRead, "", "", histDone, "b")}},
		"a write that went away after one": {false, []porcupine.Operation{made, op(2, never, histPatch, "", "b", histUnknown, ""), op(3, 4, histRead, "", "", histDone, "b"), op(5, 6, histRead, "", "", histDone, "a")}},
	} {
		if got := porcupine.CheckOperations(oneObject, c.ops); got != c.explained {
			t.Errorf("%s: explained %v", name, got)
		}
	}
}
