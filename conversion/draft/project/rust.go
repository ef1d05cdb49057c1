package project

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/wasmgate/wasmgate/conversion/draft"
	"github.com/wasmgate/wasmgate/conversion/rules"
)

// rust writes a module in Rust: its conversions are lists of steps, which the SDK has.
func (p Project) rust() []File {
	var body bytes.Buffer
	for _, d := range p.Drafts {
		there, back := rustNames(d)
		fmt.Fprintf(&body, "\nfn %s() -> Vec<Step> {\n    vec![\n", there)
		rustSteps(&body, d.Ops, false)
		fmt.Fprintf(&body, "    ]\n}\n\n/// Undoes [`%s`], the last step first.\nfn %s() -> Vec<Step> {\n    vec![\n", there, back)
		reversed := slices.Clone(d.Ops)
		slices.Reverse(reversed)
		rustSteps(&body, slices.DeleteFunc(reversed, func(op draft.Op) bool { return op.Rule == (rules.Rule{}) }), true)
		body.WriteString("    ]\n}\n")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "//! Converts %s. What is marked with CHECK was guessed.\n\nuse wasmgate_sdk::steps::*;\n", p.Definition)
	if bytes.Contains(body.Bytes(), []byte("(at(")) {
		b.WriteString("use wasmgate_sdk::{at, Module};\n")
	} else {
		b.WriteString("use wasmgate_sdk::Module;\n")
	}
	b.WriteString("\nwasmgate_sdk::module!(register);\n\nfn register(m: &mut Module) {\n")
	for _, d := range p.Drafts {
		there, back := rustNames(d)
		kind, from, to := rustQuote(p.Kind), rustQuote(d.From), rustQuote(d.To)
		fmt.Fprintf(&b, "    m.kind(%s)\n        .convert(%s, %s, all(%s()))\n        .convert(%[3]s, %[2]s, all(%[5]s()));\n", kind, from, to, there, back)
	}
	b.WriteString("}\n")
	b.Write(body.Bytes())
	return []File{{"Cargo.toml", p.cargoToml()}, {"src/lib.rs", b.Bytes()}, {"module.yaml", p.object()}}
}

func rustSteps(b *bytes.Buffer, ops []draft.Op, back bool) {
	var lines bytes.Buffer
	for _, op := range ops {
		direction(&lines, inRust, op, back)
	}
	for _, l := range strings.SplitAfter(lines.String(), "\n") {
		if l != "" {
			b.WriteString("        " + l)
		}
	}
}

// rustNames are what the two directions are called.
func rustNames(d draft.Draft) (there, back string) {
	from, to := strings.ReplaceAll(d.From, "-", "_"), strings.ReplaceAll(d.To, "-", "_")
	return from + "_to_" + to, to + "_to_" + from
}

// inRust is how Rust writes steps.
var inRust = dialect{
	quote: rustQuote,
	name: func(step string) string {
		if step == "move" { // which is a word of the language
			return "shift"
		}
		var b strings.Builder
		for _, r := range step {
			if unicode.IsUpper(r) {
				b.WriteByte('_')
			}
			b.WriteRune(unicode.ToLower(r))
		}
		return b.String()
	},
	place: func(names []string) string {
		if len(names) == 0 {
			return "at(&[] as &[&str])"
		}
		return "at([" + strings.Join(names, ", ") + "])"
	},
	list:  bracketed,
	table: tables("[] as [(&str, &str); 0]", "(", ")"),
}

// rustQuote writes a text as a literal.
func rustQuote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String() + `"`
}

// cargoToml names the library, as the package's name may be a word of the language.
func (p Project) cargoToml() []byte {
	name := strings.ReplaceAll(p.Name, ".", "-")
	if name[0] >= '0' && name[0] <= '9' {
		name = "module-" + name
	}
	sdk := `"0.1"`
	if p.SDK != "" {
		path, _ := json.Marshal(p.SDK + "/sdk/rust") // whose escapes are those of TOML
		sdk = fmt.Sprintf("{ path = %s }", path)
	}
	return fmt.Appendf(nil, `[package]
name = %q
version = "0.1.0"
edition = "2021"
publish = false

[lib]
name = "conversion"
crate-type = ["cdylib"]

[dependencies]
wasmgate-sdk = %s

[profile.release]
lto = true
panic = "abort"
`, name, sdk)
}
