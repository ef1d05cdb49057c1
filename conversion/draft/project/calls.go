package project

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wasmgate/wasmgate/conversion/draft"
	"github.com/wasmgate/wasmgate/conversion/rules"
)

// dialect is how a language writes the calls of steps.
type dialect struct {
	quote func(text string) string
	// name is what a step is called.
	name func(step string) string
	// place, list and table are written of what is quoted already.
	place func(names []string) string
	list  func(all []string) string
	table func(pairs [][2]string) string
}

// direction writes the step of an operation, or the one that undoes it.
func direction(b *bytes.Buffer, in dialect, op draft.Op, back bool) {
	if !back {
		comment(b, "// ", op)
	}
	code, list, ok := call(in, op.Rule, back)
	if !ok {
		if op.Rule != (rules.Rule{}) {
			text, _ := json.Marshal(op.Rule)
			fmt.Fprintf(b, "// CHECK: %s: write it by hand: %s\n", line(op.At), line(string(text)))
		}
		return
	}
	for _, scope := range slices.Backward(list) {
		if code == "" {
			break
		}
		code = in.name("each") + "(" + in.at(scope) + ", " + code + ")"
	}
	if code != "" {
		b.WriteString(code + ",\n")
	}
}

// HasStep tells whether there is a step for a rule, which is so in all languages or in none.
func HasStep(r rules.Rule) bool {
	_, _, ok := call(inGo, r, false)
	return ok
}

// at writes a place.
func (d dialect) at(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = d.quote(name)
	}
	return d.place(quoted)
}

// writer writes a call with the places of one rule.
type writer struct {
	dialect
	back  bool
	lists [][]string
	bad   bool
}

// at is a place within the items that it is in.
func (w *writer) at(path string) string {
	groups, err := rules.Places(path)
	if err != nil {
		w.bad = true
		return ""
	}
	w.lists = groups[:len(groups)-1]
	return w.dialect.at(groups[len(groups)-1])
}

// beside is the place of another field of the same object.
func (w *writer) beside(path, name string) string {
	groups, err := rules.Places(path)
	if err != nil || len(groups[len(groups)-1]) == 0 {
		w.bad = true
		return ""
	}
	last := slices.Clone(groups[len(groups)-1])
	last[len(last)-1] = name
	return w.dialect.at(last)
}

func (w *writer) all(paths []string) string {
	var out []string
	for _, p := range paths {
		out = append(out, w.at(p))
	}
	return w.list(out)
}

// step writes the call of one step, or, on the way back, of the one that undoes it.
func (w *writer) step(there, undone string, args ...string) string {
	if w.back {
		there = undone
	}
	return w.name(there) + "(" + strings.Join(args, ", ") + ")"
}

// move writes that one place becomes another.
func (w *writer) move(from, to string) string {
	if w.back {
		from, to = to, from
	}
	return w.step("move", "move", from, to)
}

// call writes the call of a rule; ok is false where there is none for it. lists are
// those in whose items the step is done.
func call(in dialect, r rules.Rule, back bool) (code string, lists [][]string, ok bool) {
	w := &writer{dialect: in, back: back}
	switch {
	case r.Rename != nil:
		to := w.beside(r.Rename.Field, r.Rename.To)
		code = w.move(w.at(r.Rename.Field), to)
	case r.Move != nil:
		to := w.at(r.Move.To)
		code = w.move(w.at(r.Move.From), to)
	case r.Remove != nil && back:
		return "", nil, true
	case r.Remove != nil:
		code = w.step("remove", "", w.at(r.Remove.Field))
	case r.Keep != nil:
		code = w.step("keep", "restore", w.at(r.Keep.Field), w.quote(r.Keep.Name()))
	case r.Restore != nil:
		code = w.step("restore", "keep", w.at(r.Restore.Field), w.quote(r.Restore.Name()))
	case r.Split != nil:
		code = w.step("split", "join", w.at(r.Split.Field), w.quote(r.Split.Separator), strconv.FormatBool(r.Split.Last), w.all(r.Split.Into))
	case r.Join != nil:
		code = w.step("join", "split", w.at(r.Join.Into), w.quote(r.Join.Separator), strconv.FormatBool(r.Join.Last), w.all(r.Join.Fields))
	default:
		code = w.value(r)
	}
	return code, w.lists, !w.bad && code != ""
}

// value writes the call of a rule that changes a value in its place.
func (w *writer) value(r rules.Rule) string {
	switch {
	case r.Map != nil:
		return w.step("replace", "replace", w.at(r.Map.Field), w.mapping(r.Map.Values))
	case r.Default != nil:
		return w.step("fill", "empty", w.at(r.Default.Field), w.quote(string(r.Default.Value)))
	case r.Type != nil:
		from, to := r.Type.From, r.Type.To
		if w.back {
			from, to = to, from
		}
		switch {
		case to == "string":
			return w.step("toText", "toText", w.at(r.Type.Field))
		case from == "string":
			return w.step("toValue", "toValue", w.at(r.Type.Field), w.quote(to))
		}
	case r.Unit != nil && r.Unit.Kind == "Duration":
		return w.step("toDuration", "toCount", w.at(r.Unit.Field), w.quote(r.Unit.Unit))
	case r.ToList != nil:
		return w.step("toList", "fromList", w.at(r.ToList.Field))
	case r.FromList != nil:
		return w.step("fromList", "toList", w.at(r.FromList.Field))
	}
	return ""
}

// mapping writes which values become which.
func (w *writer) mapping(values map[string]string) string {
	var pairs [][2]string
	for _, from := range slices.Sorted(maps.Keys(values)) {
		to := values[from]
		if w.back {
			from, to = to, from
		}
		pairs = append(pairs, [2]string{w.quote(from), w.quote(to)})
	}
	return w.table(pairs)
}

// bracketed writes a list as most languages do.
func bracketed(all []string) string { return "[" + strings.Join(all, ", ") + "]" }

// tables writes lists of pairs, each between two signs, and one without any as none, which
// has to name its type.
func tables(none, opens, closes string) func(pairs [][2]string) string {
	return func(pairs [][2]string) string {
		if len(pairs) == 0 {
			return none
		}
		var all []string
		for _, p := range pairs {
			all = append(all, opens+p[0]+", "+p[1]+closes)
		}
		return bracketed(all)
	}
}
