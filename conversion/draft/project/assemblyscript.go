package project

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/conversion/draft"
	"github.com/wasmgate/wasmgate/conversion/rules"
)

// assemblyscript writes a module in AssemblyScript: its conversions are lists of steps,
// which the SDK has.
func (p Project) assemblyscript() ([]File, error) {
	var body bytes.Buffer
	for _, d := range p.Drafts {
		there, back := scriptNames(d)
		fmt.Fprintf(&body, "\nconst %s: Step[] = [\n", there)
		scriptSteps(&body, d.Ops, false)
		fmt.Fprintf(&body, "];\n\n// Undoes %s, the last step first.\nconst %s: Step[] = [\n", there, back)
		reversed := slices.Clone(d.Ops)
		slices.Reverse(reversed)
		scriptSteps(&body, slices.DeleteFunc(reversed, func(op draft.Op) bool { return op.Rule == (rules.Rule{}) }), true)
		body.WriteString("];\n")
	}
	body.WriteString("\n") // what is registered has to be there before
	for _, d := range p.Drafts {
		there, back := scriptNames(d)
		kind, from, to := scriptQuote(p.Kind), scriptQuote(d.From), scriptQuote(d.To)
		fmt.Fprintf(&body, "kind(%s).steps(%s, %s, %s).steps(%[3]s, %[2]s, %[5]s);\n", kind, from, to, there, back)
	}
	used := []string{"Step"}
	for _, step := range []string{"each", "empty", "fill", "fromList", "join", "keep", "move", "remove", "rename", "replace", "restore", "split", "toCount", "toDuration", "toList", "toText", "toValue"} {
		if bytes.Contains(body.Bytes(), []byte("  "+step+"(")) || bytes.Contains(body.Bytes(), []byte(", "+step+"(")) {
			used = append(used, step)
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Converts %s. What is marked with CHECK was guessed.\nimport { kind } from \"wasmgate-sdk\";\n", p.Definition)
	fmt.Fprintf(&b, "import { %s } from \"wasmgate-sdk/steps\";\n\nexport * from \"wasmgate-sdk/exports\";\n", strings.Join(used, ", "))
	b.Write(body.Bytes())
	manifest, err := p.packageJSON()
	if err != nil {
		return nil, err
	}
	editors := []byte("{\n  \"extends\": \"assemblyscript/std/assembly.json\",\n  \"include\": [\"*.ts\"]\n}\n")
	return []File{{"package.json", manifest}, {"tsconfig.json", editors}, {"conversion.ts", b.Bytes()}, {"module.yaml", p.object()}}, nil
}

func scriptSteps(b *bytes.Buffer, ops []draft.Op, back bool) {
	var lines bytes.Buffer
	for _, op := range ops {
		direction(&lines, inAssemblyScript, op, back)
	}
	for _, l := range strings.SplitAfter(lines.String(), "\n") {
		if l != "" {
			b.WriteString("  " + l)
		}
	}
}

// scriptNames are what the two directions are called.
func scriptNames(d draft.Draft) (there, back string) {
	there, back = names(d)
	return strings.ReplaceAll(there, "-", "_"), strings.ReplaceAll(back, "-", "_")
}

// inAssemblyScript is how AssemblyScript writes steps.
var inAssemblyScript = dialect{
	quote: scriptQuote,
	name:  func(step string) string { return step },
	place: func(names []string) string {
		if len(names) == 0 {
			return "[] as string[]"
		}
		return "[" + strings.Join(names, ", ") + "]"
	},
	list:  bracketed,
	table: tables("[] as string[][]", "[", "]"),
}

// scriptQuote writes a text as a literal: those of JSON are some.
func scriptQuote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a text always has JSON
	return strings.TrimSuffix(b.String(), "\n")
}

// packageJSON names the SDK where it is: in no registry is one.
func (p Project) packageJSON() ([]byte, error) {
	type object = map[string]string
	dependencies := object{"assemblyscript": "0.28.20"}
	if p.SDK != "" {
		dependencies["wasmgate-sdk"] = "file:" + p.SDK + "/sdk/assemblyscript"
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(struct {
		Name         string `json:"name"`
		Private      bool   `json:"private"`
		Scripts      object `json:"scripts"`
		Dependencies object `json:"dependencies"`
	}{p.Name, true, object{"build": "asc conversion.ts --config node_modules/wasmgate-sdk/asconfig.json --outFile build/module.wasm"}, dependencies})
	return b.Bytes(), err
}
