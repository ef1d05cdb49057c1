package wasm

import (
	"context"
	"errors"

	"github.com/tetratelabs/wazero/sys"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
)

// abi is how guests of one kind are told, and spoken to. All else is the same for
// all: what they may use, when they are stopped, and how they are put back.
type abi struct {
	// dialect is its name.
	dialect plugins.Dialect
	// marks are exports of which one tells its guests from others.
	marks []string
	// imports are the modules of which guests may import functions.
	imports []string
	// starts are exports that are run, after _initialize, when there are such.
	starts []string
	// exports are those that hooks are called by.
	exports map[plugins.Hook]string
	// calls are further exports that are called, with their types.
	calls map[string]signature
	// verify checks the exports of a module, and says which hooks it has.
	verify  func(m *binary.Module) ([]plugins.Hook, *plugins.LoadError)
	speaker speaker
}

// speaker speaks to an instance.
type speaker interface {
	// configure makes an instance ready that has started; what it is then is what
	// every call finds. The error is a *plugins.LoadError when the guest is to blame.
	configure(ctx context.Context, i *Instance) error
	// probe shows that it runs.
	probe(ctx context.Context, i *Instance) error
	// ask calls the function, which is the export, and returns its reply. The context is
	// that of callContext. The error is a *plugins.CallError.
	ask(ctx context.Context, i *Instance, export string, fn *function, request []byte) ([]byte, error)
}

// foreign are the ABIs of others.
var foreign = []*abi{&waPC, &ofOPA}

// abiOf tells which ABI a module has: what nobody else's is, is to be the gateway's own.
func abiOf(m *binary.Module) *abi {
	if _, ok := m.Export(plugins.ExportABI); ok {
		return &own
	}
	for _, a := range foreign {
		for _, mark := range a.marks {
			if _, ok := m.Export(mark); ok {
				return a
			}
		}
	}
	return &own
}

// ended tells whether an export of some name only said that it was done: a program that
// registers functions may end well, and be called afterwards.
func ended(name string, err error) bool {
	var exit *sys.ExitError
	return name == exportStart && errors.As(err, &exit) && exit.ExitCode() == 0
}

// configRefused is the refusal of a configuration.
func (i *Instance) configRefused(why string, cause error) error {
	return &plugins.LoadError{Module: i.module.name, Reason: plugins.ConfigRefused, Detail: why, Cause: cause}
}

// unconfigured is what a failed call that configures means: a refusal, unless others are
// to blame.
func (i *Instance) unconfigured(ctx context.Context, err error) error {
	if Ended(ctx) != nil || errors.Is(err, ErrNoRoom) {
		return err
	}
	if plugins.StartReason(err) == plugins.StartLate {
		return &plugins.LoadError{Module: i.module.name, Reason: plugins.StartLate, Detail: firstLine(err.Error()), Cause: err}
	}
	return i.configRefused(err.Error(), err)
}
