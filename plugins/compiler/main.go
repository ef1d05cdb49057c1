package compiler

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/wasm"
)

// The exit codes of the process. Go's own is 2, of a panic or worse.
const (
	exitFailed  = 1  // not because of the module
	exitRefused = 10 // the compiler does not accept it
	exitMemory  = 11 // it got no memory
)

// Main is the process. It reads a module, and compiles it into a folder; args are those
// after [Argument]. What it writes is for whoever started it. It ends
// when in does.
func Main(args []string, in io.Reader, out io.Writer) int {
	err := compile(args, in, withdraw)
	var refused *plugins.LoadError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &refused):
		fmt.Fprintln(out, err)
		return exitFailed
	case outOfMemory(refused.Detail): // of a mapping for code
		return exitMemory
	}
	fmt.Fprintln(out, refused.Detail)
	return exitRefused
}

// enclosed is the last argument of a process that has begun again with less.
const enclosed = "enclosed"

// withdraw gives this process its limits, and has it begin again where it sees
// nothing but its folder.
func withdraw(args []string, memory, seconds int64) error {
	if err := confine(memory, seconds); err != nil {
		return fmt.Errorf("set the limits of the process: %w", err)
	}
	if err := enclose(args[0], append(append([]string{Argument}, args...), enclosed)); err != nil {
		return fmt.Errorf("enclose the process: %w", err)
	}
	return nil
}

func compile(args []string, in io.Reader, withdraw func(args []string, memory, seconds int64) error) error {
	if len(args) != 3 && (len(args) != 4 || args[3] != enclosed) {
		return errors.New("this command is for the gateway's own use")
	}
	memory, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return err
	}
	if len(args) == 3 {
		if err := withdraw(args, memory, seconds); err != nil {
			return err
		}
	}
	if memory > 0 {
		debug.SetMemoryLimit(memory / 4 * 3) // rather collect garbage than fail
	}
	var size [8]byte
	if _, err := io.ReadFull(in, size[:]); err != nil {
		return fmt.Errorf("read the module: %w", err)
	}
	n := binary.BigEndian.Uint64(size[:])
	if n > most {
		return fmt.Errorf("a module of %d bytes", n)
	}
	module := make([]byte, n)
	if _, err := io.ReadFull(in, module); err != nil {
		return fmt.Errorf("read the module: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		os.Exit(exitFailed) // whoever started this has ended
	}()
	return wasm.CompileInto(context.Background(), args[0], module)
}

// most is the size of a module as it is compiled: counting adds to it.
const most = 8 * plugins.MaxModuleBytes
