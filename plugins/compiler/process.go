// Package compiler owns the process that compiles a module: how it is started,
// how much memory and time it has, that it ends with whoever started it, and
// what its end says about the module.
//
// It is the gateway's own program, started again: main calls [Main] when the
// first argument is [Argument]. It must not know what is in a module, nor where
// compiled code is kept; plugins/wasm does.
package compiler

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/wasmgate/wasmgate/plugins"
)

// Argument is the first argument of the process; the others are its folder,
// and its limits in bytes and seconds.
const Argument = "compile-module"

// Limits bound the compilation of one module.
type Limits struct {
	// MemoryBytes is how much memory the process may write to; 0 means no bound.
	// It is enforced where the system does that for anonymous mappings, as Linux
	// does.
	MemoryBytes int64
	// CPU is how much processor time it may use, in whole seconds; 0 means no
	// bound.
	CPU time.Duration
}

// patience is after what time a process is given up that does not use its
// processor time: one that is stopped, or a machine that swaps.
const patience = 10 * time.Minute

var errHangs = errors.New("the compiler hangs")

// Processes compile modules, each in a process of its own. It is the
// wasm.Compiler of the gateway, and safe for concurrent use.
type Processes struct {
	program string
	limits  Limits
}

// New makes processes of the program that runs now. Files that this process got
// from whoever started it are not handed on.
func New(limits Limits) (*Processes, error) {
	program, err := self()
	if err != nil {
		return nil, fmt.Errorf("find the compiler: %w", err)
	}
	keepFiles()
	return &Processes{program, limits}, nil
}

// Terms implements wasm.Compiler.
func (p *Processes) Terms() string {
	return fmt.Sprintf("%d bytes, %s of processor time", p.limits.MemoryBytes, p.limits.CPU)
}

// self is the program that runs now, also when the file that it was started from
// has been replaced.
func self() (string, error) {
	const running = "/proc/self/exe"
	if _, err := os.Stat(running); err == nil {
		return running, nil
	}
	return os.Executable()
}

// Compile implements wasm.Compiler. The process ends when ctx does.
func (p *Processes) Compile(ctx context.Context, module []byte, dir string) error {
	ctx, stop := context.WithTimeoutCause(ctx, patience, errHangs)
	defer stop()
	said := head{most: 4 << 10}
	cmd := exec.CommandContext(ctx, p.program, Argument, ".",
		strconv.FormatInt(p.limits.MemoryBytes, 10), strconv.FormatInt(int64(p.limits.CPU/time.Second), 10))
	cmd.Args[0] = "wasmgate"
	cmd.Dir = dir // which may be relative to that of this process
	// Nothing of the gateway's environment, which may hold secrets.
	cmd.Env = []string{"GOMAXPROCS=1", "GOTRACEBACK=none"}
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = apart()
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("start the compiler: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the compiler: %w", err)
	}
	// The pipe stays open: its end tells the process that this one has ended.
	_, err = in.Write(binary.BigEndian.AppendUint64(nil, uint64(len(module))))
	if err == nil {
		_, err = in.Write(module)
	}
	waited := cmd.Wait()
	if waited == nil {
		return err
	}
	if cmd.ProcessState == nil {
		return fmt.Errorf("wait for the compiler: %w", waited)
	}
	return p.limits.verdict(ctx, ended(cmd.ProcessState), said.text())
}

// end is how a process ended.
type end struct {
	code   int // -1 when a signal ended it
	killed bool
	how    string
	cpu    time.Duration
}

func ended(s *os.ProcessState) end {
	return end{code: s.ExitCode(), killed: killed(s), how: s.String(), cpu: s.UserTime() + s.SystemTime()}
}

// verdict says what the end of a process means that failed. It is a
// *plugins.LoadError where the same module would end the same way again.
func (l Limits) verdict(ctx context.Context, e end, said string) error {
	refuse := func(reason plugins.LoadReason, format string, args ...any) error {
		return &plugins.LoadError{Reason: reason, Detail: fmt.Sprintf(format, args...)}
	}
	switch {
	case e.code == exitRefused:
		return refuse(plugins.CompileFailed, "%s", said)
	case e.code == exitFailed:
		return fmt.Errorf("the compiler: %s", said)
	case e.code == exitMemory || e.code >= 0 && outOfMemory(said):
		return refuse(plugins.CompileMemory, "compiling it takes more memory than the %d bytes that the gateway allows", l.MemoryBytes)
	case errors.Is(context.Cause(ctx), errHangs):
		return refuse(plugins.Slow, "it was not compiled within %s; it is tried again", patience)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case e.killed && l.CPU > 0 && e.cpu > l.CPU-time.Second:
		return refuse(plugins.CompileTime, "compiling it takes more than the %s of processor time that the gateway allows", l.CPU)
	case e.code >= 0 && outOfThreads(said):
		return fmt.Errorf("the compiler got no thread: %s", said)
	case e.killed: // by an operator, or by a system that is short of memory
		return fmt.Errorf("somebody ended the compiler (%s)", e.how)
	}
	return refuse(plugins.CompileFailed, "the compiler failed (%s): %s", e.how, said)
}
