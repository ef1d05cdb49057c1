package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// noise is a process that makes some; nil makes none.
type noise struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bytes.Buffer
}

// warmUp is how long noise is made before anything is measured.
const warmUp = 3 * time.Second

// begin starts a process that makes noise, and waits until it does.
func begin(ctx context.Context, c config, s *server, t *tenants, kind string) (*noise, error) {
	if kind == "" {
		return nil, nil
	}
	if kind == "all" {
		kind = "lists,writes,watches"
		if t.modules {
			kind += ",uploads,loops"
		}
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	n := &noise{out: &bytes.Buffer{}}
	n.cmd = exec.CommandContext(ctx, program, "-make", kind, "-url", s.url, "-token", t.noisy.token, "-watches", strconv.Itoa(c.watches), "-lists", strconv.Itoa(c.lists))
	n.cmd.Stderr = os.Stderr
	if n.in, err = n.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := n.cmd.Start(); err != nil {
		return nil, err
	}
	if err := syscall.Setpriority(syscall.PRIO_PROCESS, n.cmd.Process.Pid, 19); err != nil {
		return nil, fmt.Errorf("the noise has to have less right to the processors: %w", err)
	}
	lines := bufio.NewReader(out)
	if _, err := lines.ReadString('\n'); err != nil { // it says when it has begun
		return nil, fmt.Errorf("the noise has not begun: %w", err)
	}
	go func() { _, _ = lines.WriteTo(n.out) }()
	return n, nil
}

// end ends it, and tells what it was answered.
func (n *noise) end() string {
	if n == nil {
		return ""
	}
	_ = n.in.Close()
	if err := n.cmd.Wait(); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(n.out.String())
}

// answers count what was answered, by what asked.
type answers struct {
	mu  sync.Mutex
	all map[string]int
}

func (a *answers) add(what string, resp *http.Response, err error) {
	name := what + ": "
	switch {
	case errors.Is(err, context.Canceled):
		return
	case err != nil:
		name += "broken off"
	default:
		name += strconv.Itoa(resp.StatusCode)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all[name]++
}

// makeNoise makes noise until the standard input ends.
func makeNoise(ctx context.Context, c config, s *server) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	n := &maker{s: s, c: c, got: &answers{all: map[string]int{}}}
	var running sync.WaitGroup
	for _, kind := range strings.Split(c.make, ",") {
		make, ok := n.kinds()[kind]
		if !ok {
			return fmt.Errorf("-noises: there is no %q", kind)
		}
		running.Go(func() { make(ctx) })
	}
	select {
	case <-time.After(warmUp):
	case <-ctx.Done():
	}
	fmt.Println("begun")
	running.Wait()
	for _, name := range slices.Sorted(maps.Keys(n.got.all)) {
		fmt.Printf("%s x %d  ", name, n.got.all[name])
	}
	fmt.Println()
	return nil
}
