package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// pollInterval is how often a condition is tried that nothing announces.
const pollInterval = 10 * time.Millisecond

// process is a child process; done is closed when it has ended.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

func startProcess(cmd *exec.Cmd, logs *os.File) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = logs, logs
	p.cmd.SysProcAttr = dieWithParent()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// await polls until ok, and fails when the process ends or time is up.
func (p *process) await(limit time.Duration, what string, ok func() (bool, error)) error {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		done, last := ok()
		if done {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("the process ended before it was %s: %s", what, p.cmd.ProcessState)
		case <-deadline.C:
			return fmt.Errorf("not %s after %s: %w", what, limit, errors.Join(errors.New("last attempt"), last))
		case <-tick.C:
		}
	}
}

// end sends a signal, unless the process has ended, and waits for the end.
func (p *process) end(sig syscall.Signal, limit time.Duration) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return p.awaitEnd(limit)
}

// awaitEnd waits for the end, and forces it when that takes too long.
func (p *process) awaitEnd(limit time.Duration) error {
	select {
	case <-p.done:
		return nil
	case <-time.After(limit):
		_ = p.cmd.Process.Kill()
		return fmt.Errorf("the process did not end within %s", limit)
	}
}

func (p *process) exitCode() int { return p.cmd.ProcessState.ExitCode() }
