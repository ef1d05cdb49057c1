package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// program is the test program of a package, with places that can be broken.
type program struct {
	dir    string // of the package
	path   string
	places []*place
	// base is how long the tests take when nothing is broken.
	base time.Duration
}

// errorLine is where the compiler says that something is wrong.
var errorLine = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):\d+: `)

// mostTries is how often a package is compiled, without the places that did not compile.
const mostTries = 8

// build compiles the tests of the package in dir into a directory, with those of some
// places that compile: not all operators stand where a call may.
func build(ctx context.Context, dir, into string, name string, sources []*source, places []*place) (*program, error) {
	p := &program{dir: dir, path: filepath.Join(into, "package.test"), places: places}
	for range mostTries {
		if err := p.overlay(into, name, sources); err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, "go", "test", "-vet=off", "-overlay="+filepath.Join(into, "overlay.json"), "-gcflags=-e", "-c", "-o", p.path, ".")
		cmd.Dir = dir
		said, err := cmd.CombinedOutput()
		if err == nil {
			return p, nil
		}
		left := p.without(said)
		if len(left) == len(p.places) {
			return nil, fmt.Errorf("%s does not compile: %w\n%s", dir, err, said)
		}
		p.places = left
	}
	return nil, errors.New(dir + " does not compile with any of the places")
}

// without are the places in whose lines the compiler says that nothing is wrong.
func (p *program) without(said []byte) []*place {
	wrong := map[string]bool{}
	for _, m := range errorLine.FindAllSubmatch(said, -1) {
		wrong[filepath.Base(string(m[1]))+":"+string(m[2])] = true
	}
	return slices.DeleteFunc(slices.Clone(p.places), func(at *place) bool {
		return wrong[filepath.Base(at.file)+":"+strconv.Itoa(at.line)]
	})
}

// overlay writes the files that the compiler reads in place of the package's.
func (p *program) overlay(into, name string, sources []*source) error {
	texts := map[string]string{filepath.Join(p.dir, "zz_wrong.go"): "package " + name + "\n" + kit}
	for _, s := range sources {
		of := slices.DeleteFunc(slices.Clone(p.places), func(at *place) bool { return at.file != s.path })
		if len(of) > 0 {
			texts[s.path] = broken(s.text, of)
		}
	}
	replaced := map[string]string{}
	for path, text := range texts {
		replaced[path] = filepath.Join(into, filepath.Base(path)) // by which the compiler names it
		if err := os.WriteFile(replaced[path], []byte(text), 0o600); err != nil {
			return err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(into, "overlay.json"), list, 0o600)
}

// run runs the tests with a place broken, 0 for none. passed is false also where they take
// longer than limit.
func (p *program) run(ctx context.Context, number int, limit time.Duration) (passed bool, said []byte) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path, "-test.failfast", "-test.count=1")
	cmd.Dir, cmd.WaitDelay = p.dir, time.Second
	cmd.Env = append(os.Environ(), variable+"="+strconv.Itoa(number))
	said, err := cmd.CombinedOutput()
	return err == nil, said
}

// measure runs the tests with nothing broken, which they have to pass.
func (p *program) measure(ctx context.Context, limit time.Duration) error {
	began := time.Now()
	passed, said := p.run(ctx, 0, limit)
	if p.base = time.Since(began); !passed {
		return fmt.Errorf("the tests of %s do not pass within %v:\n%s", p.dir, limit, said[max(0, len(said)-2000):])
	}
	return nil
}
