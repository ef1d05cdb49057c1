package wasm

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wasmgate/wasmgate/plugins"
)

// Config describes an engine. The zero value compiles without a cache on disk.
type Config struct {
	// CacheDir keeps compiled code between runs; it is made if need be. What is
	// in it is executed, so it is refused when anybody else may write there.
	CacheDir string
	// Compiler compiles what is not in CacheDir yet, which then has to be set;
	// nil means that this process does.
	Compiler Compiler
	// Log gets the lines that modules log; it may be nil. It is called from
	// the goroutine of the call and must not block.
	Log func(module, line string)
	// Room is where the memory of instances comes from; nil is anywhere.
	Room Room
}

// Engine runs modules. There is one for the whole gateway. It is safe for
// concurrent use.
type Engine struct {
	runtime  wazero.Runtime
	cache    wazero.CompilationCache
	compiler Compiler // nil for none
	kept     *kept    // with a compiler
	turns    *turns
	// imports are what guests may import, by module and name.
	imports    map[string]map[string]signature
	logModules func(module, line string)
	room       Room // nil for none
}

// NewEngine makes an engine; the caller closes it.
func NewEngine(ctx context.Context, cfg Config) (*Engine, error) {
	e := &Engine{logModules: cfg.Log, room: cfg.Room, turns: newTurns()}
	if cfg.CacheDir == "" && cfg.Compiler != nil {
		return nil, errors.New("what another process compiles needs a folder")
	}
	if cfg.CacheDir == "" {
		e.cache = wazero.NewCompilationCache()
	} else {
		if err := private(cfg.CacheDir); err != nil {
			return nil, fmt.Errorf("compilation cache: %w", err)
		}
		var err error
		if e.cache, err = wazero.NewCompilationCacheWithDir(cfg.CacheDir); err != nil {
			return nil, fmt.Errorf("compilation cache: %w", err)
		}
	}
	if e.compiler = cfg.Compiler; e.compiler != nil {
		var err error
		if e.kept, err = openKept(cfg.CacheDir); err != nil {
			return nil, fmt.Errorf("compilation cache: %w", err)
		}
	}
	e.runtime = newRuntime(ctx, e.cache)
	if err := e.provideImports(ctx); err != nil {
		_ = e.Close(ctx)
		return nil, err
	}
	return e, nil
}

// newRuntime makes a runtime. The settings are part of what compiled code is
// found by, and have to be those of the process that compiled it.
func newRuntime(ctx context.Context, cache wazero.CompilationCache) wazero.Runtime {
	return wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().
		WithCompilationCache(cache).
		WithMemoryLimitPages(plugins.MaxMemoryBytes/pageBytes+1). // limitMemory
		WithDebugInfoEnabled(false))
}

// Close ends the engine and everything in it. No call may be under way.
func (e *Engine) Close(ctx context.Context) error {
	err := e.runtime.Close(ctx)
	if cacheErr := e.cache.Close(ctx); err == nil {
		err = cacheErr
	}
	return err
}

// errNoInstance is an error of the system, and none of the module.
var errNoInstance = errors.New("no instance could be made")

// instantiate makes an instance. The runtime panics where it gets no memory.
func (e *Engine) instantiate(ctx context.Context, compiled wazero.CompiledModule) (guest api.Module, err error) {
	defer func() {
		if r := recover(); r != nil {
			guest, err = nil, fmt.Errorf("%w: %v", errNoInstance, r)
		}
	}()
	return e.runtime.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
}
