package project

import (
	"fmt"
	"strings"

	"github.com/wasmgate/wasmgate/conversion/draft"
)

// The languages that a project can be in.
const (
	Rules          = "rules"
	Go             = "go"
	Rust           = "rust"
	AssemblyScript = "assemblyscript"
)

// Languages are all that a project can be in.
var Languages = []string{Rules, Go, Rust, AssemblyScript}

// Project is what a project is about.
type Project struct {
	// Name is that of the module, or of the rules.
	Name     string
	Language string
	// Kind and Definition are the names of the kind and of its definition.
	Kind, Definition string
	// CRD is the definition as YAML.
	CRD    []byte
	Drafts []draft.Draft
	// Samples tells that there are samples, and golden files of them.
	Samples bool
	// SDK is a folder with a checkout of the SDK; "" for the published one.
	SDK string
}

// File is a file of a project; its name has slashes.
type File struct {
	Name    string
	Content []byte
}

// Files are the files of a project, without samples.
func (p Project) Files() ([]File, error) {
	p.Definition = line(p.Definition) // which comments have
	files := []File{{"crd.yaml", p.CRD}}
	switch p.Language {
	case Rules:
		text, err := p.rules()
		if err != nil {
			return nil, err
		}
		files = append(files, File{"rules.yaml", text})
	case Go:
		sources, err := p.golang()
		if err != nil {
			return nil, err
		}
		files = append(files, sources...)
	case Rust:
		files = append(files, p.rust()...)
	case AssemblyScript:
		sources, err := p.assemblyscript()
		if err != nil {
			return nil, err
		}
		files = append(files, sources...)
	default:
		return nil, fmt.Errorf("%q is no language of projects: want one of %s", p.Language, strings.Join(Languages, ", "))
	}
	return append(files, File{"README.md", p.readme()}), nil
}

// URL is what the definition names as its converter.
func (p Project) URL() string {
	if p.Language == Rules {
		return "wasm://rules/" + p.Name
	}
	return "wasm://" + p.Name
}

// module is the file that converts.
func (p Project) module() string {
	if p.Language == Rules {
		return "rules.yaml"
	}
	return p.Name + ".wasm"
}

func (p Project) readme() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Conversion of %s\n\nWhat the two schemas of `crd.yaml` differ in was guessed", p.Definition)
	if n := p.unsure(); n > 0 {
		fmt.Fprintf(&b, ". %d of the operations are marked with `CHECK:`: look at each,\nand take the mark away", n)
	} else {
		b.WriteString(", and nothing of it is in doubt")
	}
	b.WriteString(". Then, in this folder:\n\n")
	if p.Language != Rules {
		b.WriteString(p.prepare() + "    wasmgate module build --out " + p.module() + "\n")
	}
	fmt.Fprintf(&b, "    wasmgate module fuzz %s -f crd.yaml\n", p.module())
	if p.Samples {
		fmt.Fprintf(&b, "    wasmgate module test %s -f crd.yaml --samples samples --golden golden\n", p.module())
	}
	b.WriteString("\n`fuzz` says what is lost on the way; mend it, or list what is meant as\n`acknowledgedLoss`. ")
	if p.Samples {
		b.WriteString("The samples are made of the schemas: put objects of your own beside\nthem, and have `module test` write what they become with `--update`. ")
	}
	b.WriteString("In a gateway:\n\n")
	if p.Language == Rules {
		b.WriteString("    kubectl apply -f rules.yaml -f crd.yaml\n")
	} else {
		fmt.Fprintf(&b, "    wasmgate module push %s %s\n    kubectl apply -f crd.yaml\n", p.Name, p.module())
	}
	return []byte(b.String())
}

// prepare has the commands that come before the first build.
func (p Project) prepare() string {
	const asWithInit = "of a checkout of wasmgate, as with `init --sdk`\n"
	switch {
	case p.Language == AssemblyScript && p.SDK == "":
		return "    npm install CHECKOUT/sdk/assemblyscript   # " + asWithInit
	case p.Language == AssemblyScript:
		return "    npm install\n"
	case p.SDK != "":
		return ""
	case p.Language == Go:
		return "    go mod edit -replace github.com/wasmgate/wasmgate=CHECKOUT   # a checkout of wasmgate, as with `init --sdk`\n    go mod tidy\n"
	}
	return "    cargo add wasmgate-sdk --path CHECKOUT/sdk/rust   # " + asWithInit
}

// unsure is how many operations somebody has to look at.
func (p Project) unsure() (n int) {
	for _, d := range p.Drafts {
		for _, op := range d.Ops {
			if !op.Certain {
				n++
			}
		}
	}
	return n
}
