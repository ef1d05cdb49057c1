package wasm

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/wasmgate/wasmgate/plugins"
)

// What a lookup costs beside what the guest does, in fuel: the same for the same
// answer, on every machine.
const (
	lookupFuel     = 10_000
	lookupByteFuel = 1
)

// The states of an answer to a lookup, in its high 32 bits.
const (
	lookupFound uint32 = iota
	lookupNone
	lookupRefused
)

// lookups are those of one call.
type lookups struct {
	// find is nil where there are none.
	find plugins.Lookup
	made int
	// found is what the last one told.
	found []byte
}

var (
	errNoLookups = errors.New("objects can be looked up by admission only")
	errTooMany   = fmt.Errorf("more than %d lookups in one call", plugins.MaxLookups)
)

// ask looks up the object that text names.
func (l *lookups) ask(ctx context.Context, text string) (state uint32) {
	l.made++
	data, err := l.get(ctx, text)
	switch {
	case errors.Is(err, plugins.ErrNoObject):
		l.found = nil
		return lookupNone
	case err != nil:
		l.found = []byte(firstLine(err.Error()))
		return lookupRefused
	}
	l.found = data
	return lookupFound
}

func (l *lookups) get(ctx context.Context, text string) ([]byte, error) {
	if l.find == nil {
		return nil, errNoLookups
	}
	if l.made > plugins.MaxLookups {
		return nil, errTooMany
	}
	o, err := plugins.ParseObject(text)
	if err != nil {
		return nil, err
	}
	data, err := l.find(ctx, o)
	if err == nil && len(data) > plugins.MaxLookupBytes {
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that are shown", o, len(data), plugins.MaxLookupBytes)
	}
	return data, err
}

// hostLookup is the import wasmgate.lookup.
func hostLookup(ctx context.Context, mod api.Module, stack []uint64) {
	env, ok := ctx.Value(environmentKey{}).(*environment)
	if !ok {
		panic(errors.New("a guest runs without an environment"))
	}
	text, ok := mod.Memory().Read(api.DecodeU32(stack[0]), api.DecodeU32(stack[1]))
	if !ok {
		panic(fmt.Errorf("%s: the name of the object is outside of the module's memory", plugins.ImportLookup))
	}
	state := env.lookups.ask(ctx, string(text[:min(len(text), plugins.MaxObjectName+1)]))
	env.fuel.charge(lookupFuel + lookupByteFuel*int64(len(env.lookups.found)))
	stack[0] = uint64(state)<<32 | uint64(len(env.lookups.found))
}

// hostResult is the import wasmgate.result: it copies what the last lookup told, each
// time for as much fuel as for what a guest copies itself.
func hostResult(ctx context.Context, mod api.Module, stack []uint64) {
	env := environmentOf(ctx)
	env.spend(ctx, lookupByteFuel*int64(len(env.lookups.found)))
	if !mod.Memory().Write(api.DecodeU32(stack[0]), env.lookups.found) {
		panic(fmt.Errorf("%s: there is no room at that place of the module's memory", plugins.ImportResult))
	}
}
