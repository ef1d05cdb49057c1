package wasm

import (
	"bytes"
	"fmt"

	"github.com/wasmgate/wasmgate/plugins"
)

// signature is a function type in text: "(i32, i32) -> i64".
type signature string

type importEntry struct {
	module, name string
	kind         byte
	sig          signature
}

// inspection is what a module says about itself.
type inspection struct {
	sections []section
	types    []signature
	imports  []importEntry
	// funcs are the types of all functions, imported ones first.
	funcs   []signature
	exports map[string]exportEntry
	memory  *memoryEntry
}

type exportEntry struct {
	kind  byte
	index uint32
}

type memoryEntry struct {
	section int // index into sections
	min     uint32
	max     uint32
	bounded bool
}

// inspect reads the parts of a module that the checks are about. wazero
// validates all the rest when it compiles.
func inspect(module []byte) (*inspection, error) {
	secs, err := sections(module)
	if err != nil {
		return nil, err
	}
	in := &inspection{sections: secs, exports: map[string]exportEntry{}}
	for i, s := range secs {
		r := &reader{data: s.body}
		switch s.id {
		case sectionType:
			in.readTypes(r)
		case sectionImport:
			in.readImports(r)
		case sectionFunction:
			for n := r.u32(); n > 0 && r.err == nil; n-- {
				in.funcs = append(in.funcs, in.typeAt(r, r.u32()))
			}
		case sectionMemory:
			in.readMemory(r, i)
		case sectionExport:
			in.readExports(r)
		}
		if r.err != nil {
			return nil, r.err
		}
	}
	return in, nil
}

func (in *inspection) typeAt(r *reader, i uint32) signature {
	if r.err == nil && int(i) >= len(in.types) {
		r.fail("a function of it has a type that does not exist")
	}
	if r.err != nil {
		return ""
	}
	return in.types[i]
}

var valueTypes = map[byte]string{0x7f: "i32", 0x7e: "i64", 0x7d: "f32", 0x7c: "f64", 0x7b: "v128", 0x70: "funcref", 0x6f: "externref"}

func (in *inspection) readTypes(r *reader) {
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		if form := r.byte(); form != 0x60 && r.err == nil {
			r.fail("a type of it is of an unknown form 0x%x", form)
		}
		params := readValueTypes(r)
		results := readValueTypes(r)
		in.types = append(in.types, signature("("+params+") -> ("+results+")"))
	}
}

func readValueTypes(r *reader) string {
	var b bytes.Buffer
	for i, t := range r.bytes() {
		if i > 0 {
			b.WriteString(", ")
		}
		name, ok := valueTypes[t]
		if !ok {
			name = fmt.Sprintf("0x%x", t)
		}
		b.WriteString(name)
	}
	return b.String()
}

func (in *inspection) readImports(r *reader) {
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		e := importEntry{module: string(r.bytes()), name: string(r.bytes()), kind: r.byte()}
		switch e.kind {
		case kindFunc:
			e.sig = in.typeAt(r, r.u32())
			in.funcs = append(in.funcs, e.sig)
		case kindTable:
			r.byte()
			r.limits()
		case kindMemory:
			r.limits()
		case kindGlobal:
			r.byte()
			r.byte()
		case kindTag:
			r.byte()
			r.u32()
		default:
			r.fail("an import of it is of an unknown kind %d", e.kind)
		}
		in.imports = append(in.imports, e)
	}
}

func (in *inspection) readMemory(r *reader, index int) {
	n := r.u32()
	if n > 1 {
		r.fail("it has %d memories; one is supported", n)
	}
	if n == 1 {
		m := &memoryEntry{section: index}
		_, m.min, m.max, m.bounded = r.limits()
		in.memory = m
	}
}

func (in *inspection) readExports(r *reader) {
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		name := string(r.bytes())
		in.exports[name] = exportEntry{kind: r.byte(), index: r.u32()}
	}
}

// The signatures of ABI 1.
const (
	sigAlloc    signature = "(i32) -> (i32)"
	sigHook     signature = "(i32, i32) -> (i64)"
	sigDescribe signature = "() -> (i64)"
	sigLog      signature = "(i32, i32) -> ()"
)

// refusal is a LoadError that does not know the module's name yet.
func refusal(reason plugins.LoadReason, format string, args ...any) *plugins.LoadError {
	return &plugins.LoadError{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// verify checks imports and exports against ABI 1 and returns the hooks.
// wasi is what may be imported of WASI.
func (in *inspection) verify(wasi map[string]signature) ([]plugins.Hook, *plugins.LoadError) {
	for _, e := range in.imports {
		if err := verifyImport(e, wasi); err != nil {
			return nil, err
		}
	}
	if e, ok := in.exports[plugins.ExportMemory]; !ok || e.kind != kindMemory || in.memory == nil {
		return nil, refusal(plugins.MissingExport, "it does not export its memory as %q", plugins.ExportMemory)
	}
	if e, ok := in.exports[plugins.ExportABI]; !ok || e.kind != kindFunc {
		return nil, refusal(plugins.MissingExport, "it does not export the function %q, so it is not a module of ABI %d (the Go SDK exports it; did main import it?)", plugins.ExportABI, plugins.ABIVersion)
	}
	if in.isCommand() {
		return nil, refusal(plugins.StartFailed, "it is a program that runs once (it exports %q and not %q), not a library; with Go, build it with -buildmode=c-shared",
			exportStart, exportInitialize)
	}
	if err := in.verifyExport(plugins.ExportAlloc, sigAlloc, true); err != nil {
		return nil, err
	}
	if err := in.verifyExport(plugins.ExportConfigure, sigHook, false); err != nil {
		return nil, err
	}
	if err := in.verifyExport(plugins.ExportDescribe, sigDescribe, false); err != nil {
		return nil, err
	}
	var hooks []plugins.Hook
	for _, h := range plugins.Hooks() {
		if _, ok := in.exports[string(h)]; !ok {
			continue
		}
		if err := in.verifyExport(string(h), sigHook, true); err != nil {
			return nil, err
		}
		hooks = append(hooks, h)
	}
	if len(hooks) == 0 {
		return nil, refusal(plugins.MissingExport, "it exports no hook; one of %q, %q and %q is needed", plugins.Convert, plugins.Admit, plugins.Prioritize)
	}
	return hooks, nil
}

// The exports that tell a WASI command from a reactor.
const (
	exportStart      = "_start"
	exportInitialize = "_initialize"
)

// isCommand tells a module whose runtime would never be set up: only a command
// has a start function and nothing that initializes it.
func (in *inspection) isCommand() bool {
	_, start := in.exports[exportStart]
	_, initialize := in.exports[exportInitialize]
	return start && !initialize
}

func verifyImport(e importEntry, wasi map[string]signature) *plugins.LoadError {
	want, ok := signature(""), false
	switch e.module {
	case plugins.ImportWASI:
		want, ok = wasi[e.name]
	case plugins.ImportModule:
		want, ok = sigLog, e.name == plugins.ImportLog
	}
	if !ok || e.kind != kindFunc {
		return refusal(plugins.ForeignImport, "it imports %q from %q, which the gateway does not offer; only functions of %q and %q.%q can be imported",
			e.name, e.module, plugins.ImportWASI, plugins.ImportModule, plugins.ImportLog)
	}
	if want != e.sig {
		return refusal(plugins.WrongSignature, "it imports %q from %q as %s, but it is %s", e.name, e.module, e.sig, want)
	}
	return nil
}

func (in *inspection) verifyExport(name string, want signature, required bool) *plugins.LoadError {
	e, ok := in.exports[name]
	if !ok {
		if required {
			return refusal(plugins.MissingExport, "it does not export the function %q", name)
		}
		return nil
	}
	if e.kind != kindFunc || int(e.index) >= len(in.funcs) {
		return refusal(plugins.WrongSignature, "its export %q is not a function", name)
	}
	if got := in.funcs[e.index]; got != want {
		return refusal(plugins.WrongSignature, "its export %q is %s, but has to be %s", name, got, want)
	}
	return nil
}
