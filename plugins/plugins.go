// Package plugins owns what the rest of the system says about WebAssembly
// modules: hooks, limits and typed call errors.
//
// It must not know the runtime that executes them (plugins/wasm is the only
// importer of wazero), custom resource definitions or HTTP.
package plugins

import (
	"fmt"
	"strings"
	"time"
)

// Hook is an export of a module that the gateway calls.
type Hook string

// The hooks of ABI 1.
const (
	Convert    Hook = "wasmgate_convert"
	Admit      Hook = "wasmgate_admit"
	Prioritize Hook = "wasmgate_prioritize"
)

// Limits bound one module. A zero field means its default.
type Limits struct {
	// MemoryBytes is the most linear memory one instance may have.
	MemoryBytes int64
	// Timeout is the most time a call with one object may take; [Times] says how
	// often that is for a batch.
	Timeout time.Duration
	// ResponseBytes is the largest reply that is read from a guest.
	ResponseBytes int64
	// Fuel is what one call may spend, in instructions as plugins/wasm/meter
	// counts them; the same call spends the same every time. Zero means that
	// Timeout alone bounds a call.
	Fuel int64
}

// Usage is what one call of a hook took.
type Usage struct {
	// Fuel is what it spent, in the units of [Limits].Fuel.
	Fuel int64
	// MemoryBytes is how much linear memory its instance had at its end.
	MemoryBytes int64
}

// ErrorKind classifies a [CallError].
type ErrorKind string

// The kinds of call errors.
const (
	Trap        ErrorKind = "Trap"
	Deadline    ErrorKind = "DeadlineExceeded"
	OutOfMemory ErrorKind = "MemoryExceeded"
	OutOfFuel   ErrorKind = "FuelExhausted"
	OutOfStack  ErrorKind = "StackExceeded"
	BadReply    ErrorKind = "BadReply"
	Refused     ErrorKind = "Refused"
	NotReady    ErrorKind = "NotReady"
	NoRoom      ErrorKind = "MemoryTaken"
)

// NameOf is the name of the WasmModule that something is loaded for: a revision that is
// tried beside the one that serves has that name, an @, and what it is tried for.
func NameOf(loaded string) string {
	name, _, _ := strings.Cut(loaded, "@")
	return name
}

// CallError is a failed call of a hook. The instance it happened in was thrown
// away.
type CallError struct {
	Module string
	Hook   Hook
	Kind   ErrorKind
	// Reason is a sentence fit for a client, including what the guest logged
	// last when that helps.
	Reason string
	Cause  error
}

// Error names module, hook and reason.
func (e *CallError) Error() string {
	return fmt.Sprintf("wasm module %q: %s: %s: %s", NameOf(e.Module), e.Hook, e.Kind, e.Reason)
}

// Unwrap returns the cause.
func (e *CallError) Unwrap() error { return e.Cause }

// Later tells that nothing is wrong with the module nor with what it was sent: others
// leave it no room, and the same call may do in a moment.
func (e *CallError) Later() bool { return e.Kind == NoRoom }

// Choked tells that the module ended on what it was sent: it trapped, used up its memory,
// fuel or stack, or replied with what is no reply. As it keeps nothing between calls, the
// same request ends it again.
func (e *CallError) Choked() bool {
	switch e.Kind {
	case Trap, OutOfMemory, OutOfFuel, OutOfStack, BadReply:
		return true
	}
	return false
}
