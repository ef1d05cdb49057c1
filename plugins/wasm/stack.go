package wasm

import (
	"errors"
	"reflect"

	"github.com/tetratelabs/wazero/api"

	"github.com/wasmgate/wasmgate/plugins"
)

// function is a function of a guest with the stack that it runs on, which the
// runtime makes of Go's memory, doubles when it is used up, to more than 100 MB,
// and never makes smaller.
type function struct {
	api.Function
	name string
	// stack is the runtime's own slice, the zero value where it has none. Only its
	// length is looked at: the runtime says it to nobody.
	stack reflect.Value
}

// export finds a function of the guest, with a stack of its own; nil for none.
func export(guest api.Module, name string) *function {
	fn := guest.ExportedFunction(name)
	if fn == nil {
		return nil
	}
	f := &function{Function: fn, name: name}
	if v := reflect.ValueOf(fn); v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct {
		if stack := v.Elem().FieldByName("stack"); stack.IsValid() && stack.Type() == reflect.TypeFor[[]byte]() {
			f.stack = stack
		}
	}
	return f
}

// stackBytes is how long its stack is.
func (f *function) stackBytes() int64 {
	if f == nil || !f.stack.IsValid() {
		return 0
	}
	return int64(f.stack.Len())
}

// keptStack is how much of a stack is kept for the next call.
const keptStack = 256 << 10

// shorten gives the stack back when a call made it long.
func (f *function) shorten(guest api.Module) *function {
	if f.stackBytes() <= keptStack {
		return f
	}
	return export(guest, f.name)
}

// errStack ends a call that nests its calls too deeply.
var errStack = errors.New("the limit of the stack is used up")

// stackLimit is how long the stack of a call may be, as it is found when the guest
// asks for fuel; until then it may get some MB longer.
func stackLimit(limits plugins.Limits) int64 { return max(limits.MemoryBytes/8, 1<<20) }
