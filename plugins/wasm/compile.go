package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wasmgate/wasmgate/plugins"
)

// Compiler has modules compiled by another process.
type Compiler interface {
	// Compile has [CompileInto] run there. The error is a *plugins.LoadError
	// when the module is to blame; other errors may go away by themselves.
	Compile(ctx context.Context, module []byte, dir string) error
	// Terms are the limits under which it does: with others it may end otherwise
	// than before.
	Terms() string
}

// CompileInto compiles a module that an engine prepared, and leaves what came
// out as the only file in dir, which is empty before. Nothing of the module is
// run. The error is a *plugins.LoadError when the module is to blame.
func CompileInto(ctx context.Context, dir string, module []byte) error {
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	e := &Engine{cache: cache, runtime: newRuntime(ctx, cache)}
	defer e.Close(ctx)
	_, err = e.translate(ctx, module)
	return err
}

// errNotCached means that code was not in the cache where it had to be.
var errNotCached = errors.New("the compiled code is not in the cache")

// compile makes a module ready to run, of what is in the cache if it can be.
// What was too costly is tried again only under other terms, or in another
// attempt. Once the code is not used any more, release is to be called.
func (e *Engine) compile(ctx context.Context, module []byte, attempt string) (compiled wazero.CompiledModule, release func(), err error) {
	if e.compiler == nil {
		compiled, err = e.translate(ctx, module)
		return compiled, func() {}, err
	}
	key := keyOf(module)
	release = e.kept.use(key)
	if compiled, err = e.obtain(ctx, module, key, attempt); err != nil {
		release()
	}
	return compiled, release, err
}

// keyOf is the digest of a module as it is compiled, under which things are kept.
func keyOf(module []byte) string {
	sum := sha256.Sum256(module)
	return hex.EncodeToString(sum[:])
}

// obtain takes the code of a module, which is in use, from the cache, after it
// was compiled by another process if need be.
func (e *Engine) obtain(ctx context.Context, module []byte, key, attempt string) (wazero.CompiledModule, error) {
	if e.kept.has(key) {
		compiled, err := e.translate(cachedOnly(ctx), module)
		var refused *plugins.LoadError
		if err == nil || errors.As(err, &refused) {
			return compiled, err
		}
		// It is damaged, or of another version or processor.
	}
	terms := e.compiler.Terms() + ", " + version()
	if err := e.kept.refused(key, terms, attempt); err != nil {
		return nil, err
	}
	dir, remove, err := e.kept.scratch()
	if err != nil {
		return nil, err
	}
	defer remove()
	if err := e.compiler.Compile(ctx, module, dir); err != nil {
		return nil, e.kept.refuse(key, terms, attempt, err)
	}
	if err := e.kept.adopt(dir, key); err != nil {
		return nil, err
	}
	return e.translate(cachedOnly(ctx), module)
}

// version is which compiler this program has.
var version = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == "github.com/tetratelabs/wazero" {
			return info.GoVersion + ", " + m.Path + " " + m.Version
		}
	}
	return info.GoVersion
})

// cachedOnly is a context under which the runtime takes code from its cache,
// and does not compile: with several workers it looks whether it may go on
// before each function.
func cachedOnly(ctx context.Context) context.Context {
	ctx, stop := context.WithCancelCause(ctx)
	stop(errNotCached)
	return experimental.WithCompilationWorkers(ctx, 2)
}

// translate runs the compiler, which is given hostile input, behind a recover.
func (e *Engine) translate(ctx context.Context, module []byte) (compiled wazero.CompiledModule, err error) {
	defer func() {
		if r := recover(); r != nil {
			compiled, err = nil, refusal(plugins.CompileFailed, "the compiler failed: %v", r)
		}
	}()
	compiled, err = e.runtime.CompileModule(ctx, module)
	if errors.Is(err, errNotCached) {
		return nil, err
	}
	var disk *fs.PathError
	if errors.As(err, &disk) || err != nil && strings.HasPrefix(err.Error(), "compilationcache: ") {
		// Not the module's fault, so no LoadError: it may work later.
		return nil, fmt.Errorf("compilation cache: %w", err)
	}
	if err != nil {
		return nil, &plugins.LoadError{Reason: plugins.CompileFailed, Detail: firstLine(err.Error()), Cause: err}
	}
	return compiled, nil
}
