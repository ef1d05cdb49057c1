package compiler

import (
	"encoding/binary"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
)

// Files that were handed to this process are not handed on.
func TestFilesAreKept(t *testing.T) {
	fd, err := syscall.Dup(0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	handedOn := func() bool {
		flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0)
		return errno == 0 && flags&syscall.FD_CLOEXEC == 0
	}
	before := handedOn()
	processes(t, Limits{})
	if after := handedOn(); !before || after {
		t.Errorf("handed on before %v, after %v", before, after)
	}
}

// The process ends when its input does, in the middle of its work.
func TestTheProcessEndsWithItsInput(t *testing.T) {
	program, err := self()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(program, Argument, dir, "0", "0")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	module := plugintest.Slow(14)
	if _, err := in.Write(append(binary.BigEndian.AppendUint64(nil, uint64(len(module))), module...)); err != nil {
		t.Fatal(err)
	}
	for { // until it compiles
		if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) > 0 {
			break
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != exitFailed {
		t.Errorf("it ended with %v (%v)", cmd.ProcessState, err)
	}
}

// What is sent to the process from outside says nothing of the module; a signal
// of its own mistake does.
func TestSignalsFromOutside(t *testing.T) {
	// What this process ignores, as it does in the background of a shell, what it
	// starts would ignore too.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer signal.Stop(caught)
	for signal, outside := range map[syscall.Signal]bool{
		syscall.SIGTERM: true, syscall.SIGINT: true, syscall.SIGHUP: true, syscall.SIGKILL: true,
		syscall.SIGSEGV: false, syscall.SIGXFSZ: false,
	} {
		cmd := exec.Command("/bin/cat")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait()
		if e := ended(cmd.ProcessState); e.code != -1 || e.killed != outside {
			t.Errorf("%s: %+v", signal, e)
		}
	}
}
