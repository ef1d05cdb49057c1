package host

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/plugins/wasm"
)

// compiling is a compiler that logs what it does: it takes time, and a process.
type compiling struct {
	wasm.Compiler
	log zerolog.Logger
}

// logged logs what a compiler does that there may be.
func logged(c wasm.Compiler, log zerolog.Logger) wasm.Compiler {
	if c == nil {
		return nil
	}
	return compiling{c, log}
}

// Compile implements wasm.Compiler.
func (c compiling) Compile(ctx context.Context, module []byte, dir string) error {
	begun := time.Now()
	err := c.Compiler.Compile(ctx, module, dir)
	c.log.Info().Err(err).Int("bytes", len(module)).Dur("ms", time.Since(begun)).Msg("module compiled in a process of its own")
	return err
}
