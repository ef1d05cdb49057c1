package wasm

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
	"github.com/wasmgate/wasmgate/plugins/wasm/meter"
)

// The reader's limit on the size of a module is the one that uploads have.
var _ [plugins.MaxModuleBytes]struct{} = [binary.MaxSize]struct{}{}

// signature is a function type in text: "(i32, i32) -> (i64)".
type signature string

func signatureOf(t binary.FuncType) signature {
	return signature("(" + typeNames(t.Params) + ") -> (" + typeNames(t.Results) + ")")
}

var valueTypes = map[byte]string{binary.I32: "i32", binary.I64: "i64", binary.F32: "f32", binary.F64: "f64",
	binary.V128: "v128", binary.FuncRef: "funcref", binary.ExternRef: "externref"}

func typeNames(types []byte) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = valueTypes[t]
	}
	return strings.Join(names, ", ")
}

// The signatures of ABI 1.
const (
	sigAlloc    signature = "(i32) -> (i32)"
	sigHook     signature = "(i32, i32) -> (i64)"
	sigDescribe signature = "() -> (i64)"
	sigLog      signature = "(i32, i32) -> ()"
	sigLookup   signature = "(i32, i32) -> (i64)"
	sigResult   signature = "(i32) -> ()"
	sigStart    signature = "() -> ()"
)

// refusal is a LoadError that does not know the module's name yet.
func refusal(reason plugins.LoadReason, format string, args ...any) *plugins.LoadError {
	return &plugins.LoadError{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// inspect reads a module and checks it against its ABI. It is all that is done
// with a module before it is stored: what is refused here never gets further.
func (e *Engine) inspect(module []byte) (*binary.Module, []plugins.Hook, error) {
	m, err := binary.Decode(module)
	if err != nil {
		return nil, nil, unreadable(err)
	}
	of := abiOf(m)
	if of == &ofOPA && m.Imported(binary.Memory) > 0 {
		owning, err := ownMemory(m)
		if err != nil {
			return nil, nil, err
		}
		if m, err = binary.Decode(owning); err != nil {
			return nil, nil, unreadable(err)
		}
	}
	hooks, refused := e.verify(m, of)
	if refused != nil {
		return nil, nil, refused
	}
	return m, hooks, nil
}

// unreadable makes a refusal of an error of the reader.
func unreadable(err error) error {
	var bad *binary.Error
	if !errors.As(err, &bad) {
		return err
	}
	reason := plugins.Malformed
	switch bad.Problem {
	case binary.NotWasm:
		reason = plugins.NotWasm
	case binary.OverLimit:
		reason = plugins.TooLarge
	}
	return &plugins.LoadError{Reason: reason, Detail: bad.Error(), Cause: bad}
}

// verify checks imports and exports against an ABI and returns the hooks.
func (e *Engine) verify(m *binary.Module, of *abi) ([]plugins.Hook, *plugins.LoadError) {
	for _, i := range m.Imports {
		if err := e.verifyImport(m, i, of); err != nil {
			return nil, err
		}
	}
	if e, ok := m.Export(plugins.ExportMemory); !ok || e.Kind != binary.Memory {
		return nil, refusal(plugins.MissingExport, "it does not export its memory as %q", plugins.ExportMemory)
	}
	for _, e := range m.Exports {
		if meter.Reserved(e.Name) {
			return nil, refusal(plugins.Malformed, "it exports %q, a name that the gateway keeps for itself", shorten(e.Name))
		}
	}
	return of.verify(m)
}

// The exports that tell a WASI command from a reactor.
const (
	exportStart      = "_start"
	exportInitialize = "_initialize"
)

// isCommand tells a module whose runtime would never be set up: only a command
// has a start function and nothing that initializes it.
func isCommand(m *binary.Module) bool {
	_, start := m.Export(exportStart)
	_, initialize := m.Export(exportInitialize)
	return start && !initialize
}

func (e *Engine) verifyImport(m *binary.Module, i binary.Import, of *abi) *plugins.LoadError {
	want, ok := signature(""), false
	if slices.Contains(of.imports, i.Module) {
		want, ok = e.imports[i.Module][i.Name]
	}
	if !ok || i.Kind != binary.Func {
		return refusal(plugins.ForeignImport, "it imports %q from %q, which the gateway does not offer; only functions of %s can be imported",
			shorten(i.Name), shorten(i.Module), e.offered(of))
	}
	if got := signatureOf(m.FuncType(i.Index)); want != got {
		return refusal(plugins.WrongSignature, "it imports %q from %q as %s, but it is %s", i.Name, i.Module, shorten(string(got)), want)
	}
	return nil
}

// offered is what guests of an ABI may import, in words.
func (e *Engine) offered(of *abi) string {
	var all []string
	for _, module := range of.imports {
		text := strconv.Quote(module)
		if module != plugins.ImportWASI {
			names := slices.Sorted(maps.Keys(e.imports[module]))
			last := len(names) - 1
			text = strings.Join(names[:last], ", ") + " and " + names[last] + " of " + text
		}
		all = append(all, text)
	}
	return strings.Join(all, ", and ")
}

func verifyExport(m *binary.Module, name string, want signature, required bool) *plugins.LoadError {
	e, ok := m.Export(name)
	if !ok {
		if required {
			return refusal(plugins.MissingExport, "it does not export the function %q", name)
		}
		return nil
	}
	if e.Kind != binary.Func {
		return refusal(plugins.WrongSignature, "its export %q is not a function", name)
	}
	if got := signatureOf(m.FuncType(e.Index)); got != want {
		return refusal(plugins.WrongSignature, "its export %q is %s, but has to be %s", name, shorten(string(got)), want)
	}
	return nil
}
