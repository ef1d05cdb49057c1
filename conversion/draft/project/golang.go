package project

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/format"
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
			direction(&b, inGo, op, false)
		}
		fmt.Fprintf(&b, "}\n\n// %s undoes %s, the last step first.\nvar %[1]s = steps{\n", back, there)
		for _, op := range slices.Backward(d.Ops) {
			if op.Rule != (rules.Rule{}) {
				direction(&b, inGo, op, true)
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

// names are what the two directions are called. Versions may have dashes, and names in Go
// have none: v1-a is v1_a.
func names(d draft.Draft) (there, back string) {
	name := func(version string) string { return strings.ReplaceAll(version, "-", "_") }
	title := func(version string) string { return strings.ToUpper(version[:1]) + name(version[1:]) }
	return name(d.From) + "To" + title(d.To), name(d.To) + "To" + title(d.From)
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

// inGo is how Go writes steps.
var inGo = dialect{
	quote: strconv.Quote,
	name:  func(step string) string { return step },
	list:  func(all []string) string { return strings.Join(all, ", ") },
	place: func(names []string) string { return "at(" + strings.Join(names, ", ") + ")" },
	table: func(pairs [][2]string) string {
		var all []string
		for _, p := range pairs {
			all = append(all, p[0]+": "+p[1])
		}
		return "map[string]string{" + strings.Join(all, ", ") + "}"
	},
}
