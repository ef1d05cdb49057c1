package proof

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

// maxStored is the size of the largest stored object that is tried.
const maxStored = 256 << 10

// Stored looks for what a converter loses of objects that somebody has stored, between the
// version of each and each other. Nothing that they hold is told: examples are paths and
// types. Objects that cannot be read at their version are passed by.
func Stored(ctx context.Context, d *crd.Definition, c conversion.Converter, objects [][]byte, o Options) Report {
	if o.Budget <= 0 {
		o.Budget = defaultBudget
	}
	ctx, cancel := context.WithTimeout(ctx, o.Budget)
	defer cancel()
	c = paced(conversion.Checked(c), o.PerSecond)
	out := Report{Verdict: Lossless}
	searches := map[Pair]*search{}
	for _, data := range objects {
		obj, from := readStored(d, data)
		if obj == nil {
			continue
		}
		for _, p := range pairsFrom(d, from) {
			if ctx.Err() != nil {
				continue
			}
			s := searches[p]
			if s == nil {
				var err error
				if s, err = newSearch(d, c, p, o); err != nil {
					continue
				}
				searches[p] = s
			}
			out.Tried++
			s.problem = nil // which was of another object
			s.each(ctx, obj)
		}
	}
	var versions []string
	for _, v := range d.Versions {
		versions = append(versions, v.Name)
	}
	for _, p := range PairsOf(d, versions...) {
		if s := searches[p]; s != nil {
			for _, l := range s.losses {
				out = out.With(Report{Losses: []Loss{l.withoutValues()}})
			}
		}
	}
	return out
}

// With is a report with what another one found beside it.
func (r Report) With(other Report) Report {
	r.Tried += other.Tried
	for _, l := range other.Losses {
		known := slices.ContainsFunc(r.Losses, func(k Loss) bool { return k.Pair == l.Pair && k.Problem == l.Problem && k.Field == l.Field })
		if !known {
			r.Losses, r.Verdict = append(r.Losses, l), Lossy
		}
	}
	return r
}

// readStored is an object as it is read at its version, nil if it cannot be.
func readStored(d *crd.Definition, data []byte) (obj map[string]any, version string) {
	if len(data) > maxStored {
		return nil, ""
	}
	tree, _, err := object.Parse(data)
	if err != nil {
		return nil, ""
	}
	apiVersion, _ := tree["apiVersion"].(string)
	from := d.At(apiVersion)
	if from == nil {
		return nil, ""
	}
	obj, _ = end{from, apiVersion}.accepted(tree)
	return obj, from.Name
}

// withoutValues is a loss of which nobody learns what the object holds: neither values, nor
// keys of what the schema says is a map, nor what was said about them.
func (l Loss) withoutValues() Loss {
	l.Place, l.Had, l.Got = l.Field, typeText(l.Had), typeText(l.Got)
	l.Message = "a stored object shows it"
	if l.Problem == Lost {
		l.Message += fmt.Sprintf(": %s becomes %s", cmp.Or(l.Had, "nothing"), cmp.Or(l.Got, "nothing"))
	}
	l.Example = l.shape
	return l
}

// typeText is the type of a value that is told as JSON.
func typeText(value string) string {
	switch {
	case value == "":
		return ""
	case value[0] == '"':
		return "string"
	case value[0] == '{':
		return "object"
	case value[0] == '[':
		return "array"
	case value == "null":
		return "null"
	case value[0] == 't' || value[0] == 'f':
		return "boolean"
	}
	return "number"
}

// shapeOf is an object as paths and types, a line for each, in at most so many lines.
func (p paths) shapeOf(obj map[string]any) string {
	var b strings.Builder
	told := map[string]bool{}
	lines := 0
	for _, place := range placesOf(obj) {
		line := fmt.Sprintf("%s: %s\n", p.of(place), typeText(shown(at(obj, place))))
		if told[line] {
			continue
		}
		if told[line] = true; lines == maxLines-1 {
			b.WriteString("...\n")
			break
		}
		lines++
		b.WriteString(line)
	}
	return b.String()
}
