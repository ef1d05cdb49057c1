package wasm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tetratelabs/wazero"

	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
	"github.com/wasmgate/wasmgate/plugins/wasm/linear"
	"github.com/wasmgate/wasmgate/plugins/wasm/meter"
)

// Module is a compiled module. It is immutable and safe for concurrent use.
type Module struct {
	engine   *Engine
	compiled wazero.CompiledModule
	release  func() // of the code in the cache
	name     string
	limits   plugins.Limits
	config   []byte
	abi      *abi
	hooks    []plugins.Hook
	describe bool
	size     int
	// globals are the names of those that instances are put back by.
	globals []string
	// branches are told what calls take; nil where nobody asks.
	branches *plugins.Branches
	// shared is the memory of instances as they started.
	shared *linear.Shared
	// cold: it does not give room for a request of the usual size.
	cold atomic.Bool
}

// Source is a module before it is loaded.
type Source struct {
	// Name is used in errors and logs.
	Name string
	// Bytes are the module; they are not changed, nor kept, but by Branches.
	Bytes []byte
	// Config is the JSON that instances are configured with; empty for none.
	Config []byte
	// Limits bound every instance.
	Limits plugins.Limits
	// Attempt is any text. What is too costly to compile is compiled again only
	// in another attempt.
	Attempt string
	// Branches are told which branches calls take; nil for what serves, whose code is
	// made without.
	Branches *plugins.Branches
}

// Load checks, rewrites and compiles a module. It takes about a second for
// every few megabytes, up to a minute or two for the worst that is accepted,
// and ctx does not interrupt it. The error is a *plugins.LoadError when the
// module is to blame. The caller closes the module.
func (e *Engine) Load(ctx context.Context, src Source) (*Module, error) {
	limits := src.Limits.Effective()
	m, prepared, err := e.prepare(src, limits)
	if err != nil {
		return nil, named(src.Name, err)
	}
	compiled, release, err := e.compile(ctx, prepared, src.Attempt)
	var refused *plugins.LoadError
	if errors.As(err, &refused) && src.Branches != nil { // it may be the marks that are too much
		src.Branches = nil
		return e.Load(ctx, src)
	}
	if err != nil {
		return nil, named(src.Name, err)
	}
	_, describe := compiled.ExportedFunctions()[plugins.ExportDescribe]
	describe = describe && abiOf(m.Module).dialect == plugins.Own
	return &Module{
		engine: e, compiled: compiled, release: sync.OnceFunc(release), name: src.Name, limits: limits,
		config: bytes.Clone(src.Config), abi: abiOf(m.Module), hooks: m.hooks, describe: describe, size: len(src.Bytes),
		globals: meter.Globals(m.Module), branches: src.Branches, shared: &linear.Shared{Room: e.room},
	}, nil
}

// inspected is a module that was read, with what it is to the gateway.
type inspected struct {
	*binary.Module
	hooks []plugins.Hook
}

// prepare is all that happens to a module between upload and compiler.
func (e *Engine) prepare(src Source, limits plugins.Limits) (*inspected, []byte, error) {
	m, hooks, err := e.inspect(src.Bytes)
	if err != nil {
		return nil, nil, err
	}
	if err := checkConfig(src, m); err != nil {
		return nil, nil, err
	}
	var marked *meter.Branches
	if src.Branches != nil {
		if marked, err = meter.FindBranches(m); err != nil {
			return nil, nil, unreadable(err)
		}
		src.Branches.Begin(marked.Inside, compared(m))
	}
	rewritten, err := rewrite(m, limits, marked)
	return &inspected{m, hooks}, rewritten, err
}

// Check tells whether a module can be loaded, as far as can be seen without
// compiling it. It takes milliseconds. The error is a *plugins.LoadError.
func (e *Engine) Check(name string, module []byte) error {
	if _, _, err := e.inspect(module); err != nil {
		return named(name, err)
	}
	return nil
}

func checkConfig(src Source, m *binary.Module) error {
	if len(src.Config) == 0 {
		return nil
	}
	if !json.Valid(src.Config) {
		return refusal(plugins.ConfigRefused, "its configuration is not JSON")
	}
	if _, ok := m.Export(plugins.ExportConfigure); !ok && abiOf(m).dialect == plugins.Own {
		return refusal(plugins.ConfigRefused, "it has a configuration, but does not export %q", plugins.ExportConfigure)
	}
	return nil
}

// named puts the module's name into a refusal.
func named(name string, err error) error {
	var refused *plugins.LoadError
	if errors.As(err, &refused) {
		refused.Module = name
		return refused
	}
	return fmt.Errorf("wasm module %q: %w", name, err)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return shorten(line)
}

// shorten cuts what a module says about itself to a length fit for a message.
func shorten(s string) string { return excerpt.Of(s, 300) }

// Name is the name that the module was loaded with.
func (m *Module) Name() string { return m.name }

// Hooks are the hooks that the module exports.
func (m *Module) Hooks() []plugins.Hook { return m.hooks }

// Dialect is whose ABI the module has.
func (m *Module) Dialect() plugins.Dialect { return m.abi.dialect }

// Size is the number of bytes that were loaded.
func (m *Module) Size() int { return m.size }

// Close frees the compiled code. All instances have to be closed before.
func (m *Module) Close(ctx context.Context) error {
	defer m.release()
	return m.compiled.Close(ctx)
}
