package rules

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/sdk"
	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// The bounds of one path.
const (
	maxPath  = 512
	maxSteps = 32
)

// every is the step to all items of a list, or all values of a map. No name is.
const every = "\x00"

// parsePath reads a path: spec.ports[*].labels["example.com/a"].
func parsePath(text string) (steps []string, err error) {
	if len(text) > maxPath {
		return nil, fmt.Errorf("it has more than %d bytes", maxPath)
	}
	rest := strings.TrimPrefix(text, ".")
	for rest != "" {
		step, items := "", strings.HasPrefix(rest, "[*]")
		switch {
		case items:
			step, rest = every, rest[3:]
		case strings.HasPrefix(rest, `["`):
			end, err := rawjson.Skip([]byte(rest), 1)
			if err != nil || !strings.HasPrefix(rest[end:], "]") {
				return nil, errors.New(`a key in brackets has no end: want ["KEY"]`)
			}
			step, _ = rawjson.String([]byte(rest[1:end]))
			rest = rest[end+1:]
		default:
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			step, rest = rest[:end], rest[end:]
		}
		if step == "" || !items && strings.Contains(step, every) {
			return nil, errors.New("a name is empty: want names with dots between them, [*] for all items, and [\"KEY\"] for odd keys")
		}
		steps = append(steps, step)
		if after, dot := strings.CutPrefix(rest, "."); dot {
			if rest = after; rest == "" || rest[0] == '[' || rest[0] == '.' {
				return nil, errors.New("a dot has no name after it")
			}
		} else if rest != "" && rest[0] != '[' {
			return nil, errors.New("a dot is missing after a bracket")
		}
	}
	switch {
	case len(steps) == 0:
		return nil, errors.New("it is empty")
	case len(steps) > maxSteps:
		return nil, fmt.Errorf("it is more than %d steps deep", maxSteps)
	}
	return steps, reserved(steps)
}

// Places reads a path as the steps to each [*], and last those within the item: of a path
// without one, those are all.
func Places(path string) ([][]string, error) {
	steps, err := parsePath(path)
	if err != nil {
		return nil, err
	}
	all := [][]string{{}}
	for _, s := range steps {
		if s == every {
			all = append(all, []string{})
			continue
		}
		all[len(all)-1] = append(all[len(all)-1], s)
	}
	return all, nil
}

// reserved refuses what no conversion may change.
func reserved(steps []string) error {
	switch steps[0] {
	case "apiVersion", "kind":
		return errors.New("the server sets it")
	case every:
		return errors.New("it names every field of the object")
	case "metadata":
		if len(steps) != 3 || steps[1] != "labels" && steps[1] != "annotations" || steps[2] == every {
			return errors.New(`of metadata, conversions change labels and annotations only: want metadata.labels["KEY"] or metadata.annotations["KEY"]`)
		}
	}
	return nil
}

// scope are the paths of one rule, seen from the items that it is about: what comes
// before the last [*], which all of them have in common.
type scope struct {
	// groups are the steps to each [*].
	groups [][]string
}

// within divides paths into what they have in common up to the last [*], and the rest.
func within(at *field.Path, names []string, paths [][]string) (scope, [][]string, *field.Error) {
	var prefix []string
	last := -1
	for i, p := range paths {
		if n := lastEvery(p); n > last {
			last, prefix = n, paths[i][:n+1]
		}
	}
	rests := make([][]string, len(paths))
	for i, p := range paths {
		if len(p) < len(prefix) || !slices.Equal(p[:len(prefix)], prefix) {
			return scope{}, nil, field.Invalid(at.Child(names[i]), show(p), "its [*] is not that of the rule's other fields: all have to be in the same items, so begin it with "+show(prefix))
		}
		rests[i] = p[len(prefix):]
	}
	var s scope
	for len(prefix) > 0 {
		n := slices.Index(prefix, every)
		s.groups = append(s.groups, prefix[:n])
		prefix = prefix[n+1:]
	}
	return s, rests, nil
}

func lastEvery(path []string) int {
	for i, step := range slices.Backward(path) {
		if step == every {
			return i
		}
	}
	return -1
}

// each calls fn with the place of each item, which is nil for the object itself. Items
// may be changed by fn, but not be added or taken away.
func (s scope) each(r *run, fn func(item []string) error) error {
	return eachItem(r, nil, s.groups, fn)
}

func eachItem(r *run, base []string, groups [][]string, fn func([]string) error) error {
	if len(groups) == 0 {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		return fn(base)
	}
	in := join(base, groups[0])
	raw := r.at(in, nil).Raw()
	w := open(raw)
	for i := 0; w.Next(); i++ {
		name := fmt.Sprint(i)
		if w.IsObject() {
			name = rawjson.Unescape(w.Key())
		}
		w.Value()
		if err := eachItem(r, join(in, []string{name}), groups[1:], fn); err != nil {
			return err
		}
	}
	return nil
}

// open goes over the items of a value, of which there are none in what is neither a list
// nor an object.
func open(raw []byte) rawjson.Walk {
	w, _ := rawjson.Open(raw, 0, true)
	return w
}

// join makes one path of two, without memory of its own where one is empty.
func join(a, b []string) []string {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	return append(append(make([]string, 0, len(a)+len(b)), a...), b...)
}

// show writes a path as people do.
func show(path []string) string {
	var b strings.Builder
	for _, step := range path {
		switch {
		case step == every:
			b.WriteString("[*]")
		case strings.ContainsAny(step, `.[]"/\`):
			b.Write(append(rawjson.AppendString([]byte{'['}, step), ']'))
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		}
	}
	return b.String()
}

// run is the conversion of one object.
type run struct {
	ctx     context.Context
	o       *sdk.Object
	written int // bytes of all values that were put
}

// maxWritten is how much the rules of one conversion write together. Each value is memory
// until the conversion ends, and rules that copy can double what is there again and again.
const maxWritten = 8 * conversion.MaxObjectBytes

// place is a field whose values are counted as they are put.
type place struct {
	sdk.Field
	r *run
}

// at is the field at a path that begins at an item.
func (r *run) at(item, path []string) place { return place{r.o.At(join(item, path)...), r} }

// SetRaw makes the field any JSON value.
func (p place) SetRaw(json []byte) error {
	if err := p.r.write(len(json)); err != nil {
		return err
	}
	return p.Field.SetRaw(json)
}

// SetString makes the field a string.
func (p place) SetString(s string) error {
	return p.SetRaw(rawjson.AppendString(nil, s)) // with its escapes, up to six times as long
}

func (r *run) write(n int) error {
	if r.written += n; r.written > maxWritten {
		return fmt.Errorf("the rules have written more than %d bytes by now", maxWritten)
	}
	return nil
}

// take removes a field, and the objects around it that have nothing left, but none
// that is an item or around one. nil says that there is no such field.
func (r *run) take(item, path []string) []byte {
	f := r.at(item, path)
	raw := f.Raw()
	if raw == nil {
		return nil
	}
	f.Delete()
	for n := len(path) - 1; n > 0; n-- {
		around := r.at(item, path[:n])
		if around.Len() > 0 || !bytes.HasPrefix(around.Raw(), []byte("{")) {
			break
		}
		around.Delete()
	}
	return raw
}

// text is the string at a place; ok is false where there is none, and with an error
// where there is something else.
func (r *run) text(item, path []string) (s string, ok bool, err error) {
	raw := r.at(item, path).Raw()
	if raw == nil || rawjson.IsNull(raw) {
		return "", false, nil
	}
	if s, ok = rawjson.String(raw); !ok {
		return "", false, fmt.Errorf("%s is not a string", show(path))
	}
	return s, true, nil
}
