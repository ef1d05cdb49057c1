package project

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"go/format"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wasmgate/wasmgate/conversion/draft"
	"github.com/wasmgate/wasmgate/conversion/rules"
)

// steps are what conversions in Go are put together from: the same things as rules.
//
//go:embed steps.go.txt
var steps []byte

// golang writes a module in Go: its conversions are lists of steps, those of the way
// back in the opposite order.
func (p Project) golang() ([]File, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Command %s converts %s. What is marked with CHECK was guessed.\npackage main\n\nimport \"github.com/wasmgate/wasmgate/sdk\"\n\nfunc main() {}\n\nfunc init() {\n", p.Name, p.Definition)
	for _, d := range p.Drafts {
		there, back := names(d)
		fmt.Fprintf(&b, "sdk.For(%q).Convert(%q, %q, %s.run)\nsdk.For(%[1]q).Convert(%[3]q, %[2]q, %[5]s.run)\n", p.Kind, d.From, d.To, there, back)
	}
	b.WriteString("}\n")
	for _, d := range p.Drafts {
		there, back := names(d)
		fmt.Fprintf(&b, "\nvar %s = steps{\n", there)
		for _, op := range d.Ops {
			direction(&b, op, false)
		}
		fmt.Fprintf(&b, "}\n\n// %s undoes %s, the last step first.\nvar %[1]s = steps{\n", back, there)
		for _, op := range slices.Backward(d.Ops) {
			if op.Rule != (rules.Rule{}) {
				direction(&b, op, true)
			}
		}
		b.WriteString("}\n")
	}
	text, err := format.Source(b.Bytes())
	if err != nil {
		return nil, err
	}
	return []File{{"go.mod", p.goMod()}, {"conversion.go", text}, {"steps.go", steps}, {"module.yaml", p.object()}}, nil
}

// names are what the two directions are called.
func names(d draft.Draft) (there, back string) {
	title := func(version string) string { return strings.ToUpper(version[:1]) + version[1:] }
	return d.From + "To" + title(d.To), d.To + "To" + title(d.From)
}

func (p Project) goMod() []byte {
	text := fmt.Sprintf("module example.com/%s\n\ngo 1.26.0\n\nrequire %s v0.0.0\n", p.Name, sdkModule)
	if p.SDK != "" {
		text += fmt.Sprintf("\nreplace %s => %s\n", sdkModule, modPath(p.SDK))
	}
	return []byte(text)
}

// sdkModule is the module that the SDK is in.
const sdkModule = "github.com/wasmgate/wasmgate"

// modPath is a path as go.mod has it.
func modPath(folder string) string {
	if strings.ContainsAny(folder, " \t\"'`") {
		return strconv.Quote(folder)
	}
	return folder
}

// object is the WasmModule, whose bytes are uploaded.
func (p Project) object() []byte {
	return fmt.Appendf(nil, "# The bytes arrive separately: wasmgate module push %[1]s %[1]s.wasm\napiVersion: wasmgate.dev/v1\nkind: WasmModule\nmetadata:\n  name: %[1]s\nspec:\n  source:\n    upload: {}\n", p.Name)
}

// direction writes the step of an operation, or the one that undoes it.
func direction(b *bytes.Buffer, op draft.Op, back bool) {
	if !back {
		comment(b, "// ", op)
	}
	code, list, ok := call(op.Rule, back)
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
		code = "each(" + place(scope) + ", " + code + ")"
	}
	if code != "" {
		b.WriteString(code + ",\n")
	}
}

// InGo tells whether there is a step in Go for a rule.
func InGo(r rules.Rule) bool {
	_, _, ok := call(r, false)
	return ok
}

// place writes steps as Go.
func place(steps []string) string {
	quoted := make([]string, len(steps))
	for i, s := range steps {
		quoted[i] = strconv.Quote(s)
	}
	return "at(" + strings.Join(quoted, ", ") + ")"
}

// writer writes a call with the places of one rule.
type writer struct {
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
	return place(groups[len(groups)-1])
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
	return place(last)
}

func (w *writer) all(paths []string) string {
	var out []string
	for _, p := range paths {
		out = append(out, w.at(p))
	}
	return strings.Join(out, ", ")
}

// call writes the call of a rule; ok is false where there is none for it. lists are
// those in whose items the step is done.
func call(r rules.Rule, back bool) (code string, lists [][]string, ok bool) {
	w := &writer{}
	either := func(there, undone string) string {
		if back {
			return undone
		}
		return there
	}
	switch {
	case r.Rename != nil:
		to := w.beside(r.Rename.Field, r.Rename.To)
		code = either("move("+w.at(r.Rename.Field)+", "+to+")", "move("+to+", "+w.at(r.Rename.Field)+")")
	case r.Move != nil:
		code = either("move("+w.at(r.Move.From)+", "+w.at(r.Move.To)+")", "move("+w.at(r.Move.To)+", "+w.at(r.Move.From)+")")
	case r.Remove != nil && back:
		return "", nil, true
	case r.Remove != nil:
		code = "remove(" + w.at(r.Remove.Field) + ")"
	case r.Keep != nil:
		code = fmt.Sprintf("%s(%s, %q)", either("keep", "restore"), w.at(r.Keep.Field), r.Keep.Name())
	case r.Restore != nil:
		code = fmt.Sprintf("%s(%s, %q)", either("restore", "keep"), w.at(r.Restore.Field), r.Restore.Name())
	case r.Split != nil:
		code = fmt.Sprintf("%s(%s, %q, %t, %s)", either("split", "join"), w.at(r.Split.Field), r.Split.Separator, r.Split.Last, w.all(r.Split.Into))
	case r.Join != nil:
		code = fmt.Sprintf("%s(%s, %q, %t, %s)", either("join", "split"), w.at(r.Join.Into), r.Join.Separator, r.Join.Last, w.all(r.Join.Fields))
	default:
		code = w.value(r, back)
	}
	return code, w.lists, !w.bad && code != ""
}

// value writes the call of a rule that changes a value in its place.
func (w *writer) value(r rules.Rule, back bool) string {
	pick := func(there, undone string) string {
		if back {
			return undone
		}
		return there
	}
	switch {
	case r.Map != nil:
		return "replace(" + w.at(r.Map.Field) + ", " + mapping(r.Map.Values, back) + ")"
	case r.Default != nil:
		return fmt.Sprintf("%s(%s, %q)", pick("fill", "empty"), w.at(r.Default.Field), string(r.Default.Value))
	case r.Type != nil:
		from, to := r.Type.From, r.Type.To
		if back {
			from, to = to, from
		}
		switch {
		case to == "string":
			return "toText(" + w.at(r.Type.Field) + ")"
		case from == "string":
			return fmt.Sprintf("toValue(%s, %q)", w.at(r.Type.Field), to)
		}
	case r.Unit != nil && r.Unit.Kind == "Duration":
		return fmt.Sprintf("%s(%s, %q)", pick("toDuration", "toCount"), w.at(r.Unit.Field), r.Unit.Unit)
	case r.ToList != nil:
		return pick("toList", "fromList") + "(" + w.at(r.ToList.Field) + ")"
	case r.FromList != nil:
		return pick("fromList", "toList") + "(" + w.at(r.FromList.Field) + ")"
	}
	return ""
}

// mapping writes which values become which.
func mapping(values map[string]string, back bool) string {
	var b strings.Builder
	b.WriteString("map[string]string{")
	for _, from := range slices.Sorted(maps.Keys(values)) {
		to := values[from]
		if back {
			from, to = to, from
		}
		fmt.Fprintf(&b, "%q: %q, ", from, to)
	}
	return strings.TrimSuffix(b.String(), ", ") + "}"
}
