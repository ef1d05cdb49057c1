package plugins

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The limits of a module that sets none, and the most it may set.
const (
	DefaultMemoryBytes   = 64 << 20
	DefaultTimeout       = 2 * time.Second
	DefaultResponseBytes = 32 << 20

	MaxMemoryBytes   = 1 << 30
	MaxTimeout       = 30 * time.Second
	MaxResponseBytes = 256 << 20
	// MaxPolicyBytes is how much is read of what a policy of others says: of what
	// is made of it, a reply to a review, whoever asks reads no more.
	MaxPolicyBytes = 16 << 20
	// MaxModuleBytes is the largest module that is accepted.
	MaxModuleBytes = 64 << 20

	// MaxTimes is how many timeouts a batch may take at most, and the start of an
	// instance: ten seconds where nothing is set.
	MaxTimes = 5
)

// Times is how many timeouts a call with some objects may take: one for each
// hundred of them, and for each MiB of the request, at least one.
func Times(objects, bytes int) int {
	return min(max(1, (objects+99)/100, (bytes+1<<20-1)>>20), MaxTimes)
}

// Allowed is how long a call may take that has so many timeouts.
func (l Limits) Allowed(times int) time.Duration {
	return min(l.Timeout*time.Duration(times), MaxTimeout)
}

// Effective returns the limits with defaults filled in and capped.
func (l Limits) Effective() Limits {
	l.MemoryBytes = bound(l.MemoryBytes, DefaultMemoryBytes, MaxMemoryBytes)
	l.Timeout = bound(l.Timeout, DefaultTimeout, MaxTimeout)
	l.Fuel = max(l.Fuel, 0)
	l.ResponseBytes = bound(l.ResponseBytes, DefaultResponseBytes, MaxResponseBytes)
	return l
}

func bound[T int64 | time.Duration](value, standard, most T) T {
	if value <= 0 {
		return standard
	}
	return min(value, most)
}

// LoadReason classifies a [LoadError]; it is fit for the reason of a status
// condition.
type LoadReason string

// The reasons for which a module is refused.
const (
	NotWasm        LoadReason = "NotWasm"
	TooLarge       LoadReason = "TooLarge"
	Malformed      LoadReason = "Malformed"
	MissingExport  LoadReason = "MissingExport"
	WrongSignature LoadReason = "WrongSignature"
	ForeignImport  LoadReason = "ForeignImport"
	MemoryLimit    LoadReason = "MemoryLimit"
	CompileFailed  LoadReason = "CompileFailed"
	StartFailed    LoadReason = "StartFailed"
	ConfigRefused  LoadReason = "ConfigRefused"
	BadDescription LoadReason = "BadDescription"

	// CompileMemory and CompileTime: compiling it takes more than the gateway
	// allows.
	CompileMemory LoadReason = "CompileMemory"
	CompileTime   LoadReason = "CompileTime"
	// HookInUse: it lacks a hook that the revision before has, and that something
	// refers to.
	HookInUse LoadReason = "HookInUse"
	// Slow: compiling it takes too long. It may be accepted when asked again.
	Slow LoadReason = "Slow"
	// StartLate: its start did not end in time, by itself or as others have the
	// processors. It may be accepted when asked again.
	StartLate LoadReason = "StartLate"
	// Quarantined: the gateway ended while it was being loaded.
	Quarantined LoadReason = "Quarantined"
	// SafeMode: the gateway loads no modules at all.
	SafeMode LoadReason = "SafeMode"
)

// Final tells the reasons that lie in the module: the same bytes with the same
// configuration and limits are refused again. The others lie in what happened
// to this gateway, or in what refers to the module.
func (r LoadReason) Final() bool {
	return r != HookInUse && r != Slow && r != StartLate && r != Quarantined && r != SafeMode
}

// StartReason is the reason of a module whose start ended with an error, where that is
// one of the module. How late it is depends on what else runs.
func StartReason(err error) LoadReason {
	if errors.Is(err, context.DeadlineExceeded) {
		return StartLate
	}
	return StartFailed
}

// LoadError says why a module cannot be used.
type LoadError struct {
	Module string
	Reason LoadReason
	// Detail is a sentence that names the import or export concerned.
	Detail string
	Cause  error
}

// Error names module and detail.
func (e *LoadError) Error() string {
	return fmt.Sprintf("wasm module %q: %s: %s", NameOf(e.Module), e.Reason, e.Detail)
}

// Unwrap returns the cause.
func (e *LoadError) Unwrap() error { return e.Cause }
