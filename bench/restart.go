package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// restart ends the server and starts it again as it was started before. The
// one operation is over when it is ready and serves the last of the many
// definitions.
func restart(c config, t *target) (measurement, error) {
	start, ready, err := t.again()
	if err != nil {
		return measurement{}, err
	}
	if err := t.wait(crowdList(c.definitions-1, crowdVersions[0]), 200); err != nil {
		return measurement{}, err
	}
	took := time.Since(start)
	m := summarize([]time.Duration{took}, took, t.usage().cpu)
	m.Note = fmt.Sprintf("ready after %.2f s; %.0f MB when idle", ready.Seconds(), t.settled())
	return m, nil
}

// again ends the server and starts it again as it was started before, and tells when
// and how long after that it was ready.
func (t *target) again() (start time.Time, ready time.Duration, err error) {
	again, err := t.command()
	if err != nil {
		return start, 0, err
	}
	if err := t.stop(); err != nil {
		return start, 0, err
	}
	start = time.Now()
	if err := again.Start(); err != nil {
		return start, 0, err
	}
	t.pid = again.Process.Pid
	go again.Wait() // whoever ends it leaves no zombie
	err = t.wait("/readyz", 200)
	return start, time.Since(start), err
}

// command is what started the server: the same program, arguments, directory
// and environment.
func (t *target) command() (*exec.Cmd, error) {
	dir := fmt.Sprintf("/proc/%d/", t.pid)
	program, err := os.Readlink(dir + "exe")
	if err != nil {
		return nil, fmt.Errorf("what started the server: %w", err)
	}
	args, err := os.ReadFile(dir + "cmdline")
	if err != nil {
		return nil, err
	}
	environment, err := os.ReadFile(dir + "environ")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, split(args)[1:]...)
	cmd.Env = split(environment)
	if cmd.Dir, err = os.Readlink(dir + "cwd"); err != nil {
		return nil, err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, nil
}

func split(list []byte) []string {
	return strings.Split(string(bytes.TrimSuffix(list, []byte{0})), "\x00")
}

// stop ends the server as an operator would, and waits for its end.
func (t *target) stop() error {
	if err := syscall.Kill(t.pid, syscall.SIGTERM); err != nil {
		return fmt.Errorf("ending the server: %w", err)
	}
	deadline := time.Now().Add(2 * time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for t.alive() {
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d does not end", t.pid)
		}
		<-tick.C
	}
	return nil
}

// alive tells whether the server's process still runs; what ended and was not
// waited for by its parent does not.
func (t *target) alive() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", t.pid))
	if err != nil {
		return false
	}
	i := bytes.LastIndexByte(stat, ')')
	return i < 0 || !bytes.HasPrefix(stat[i+1:], []byte(" Z"))
}
