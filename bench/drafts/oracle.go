package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed program.txt
var program []byte

// oracle is a project's own converters, run as a program of another module, so that what
// they depend on is not what this one does.
type oracle struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// answer is an object as its type reads it, and what it becomes.
type answer struct {
	Was, Is json.RawMessage
	Error   string
}

// module is a module as the go command tells of it.
type module struct{ Path, Version, Dir string }

// newOracle builds the program for the pairs of a subject, in a copy of its module, so that
// it may import what is internal there.
func newOracle(ctx context.Context, dir string, m module, s subject) (*oracle, error) {
	if err := copyModule(ctx, dir, m, s.With); err != nil {
		return nil, err
	}
	folder := s.folder()
	if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
		return nil, err
	}
	for name, text := range map[string][]byte{"main.go": program, "pairs.go": s.pairs(m.Path)} {
		if err := os.WriteFile(filepath.Join(dir, folder, name), text, 0o644); err != nil {
			return nil, err
		}
	}
	binary := filepath.Join(dir, folder, "program")
	if _, err := goCommand(ctx, dir, "build", "-buildvcs=false", "-p=1", "-o", binary, "./"+filepath.ToSlash(folder)); err != nil {
		return nil, fmt.Errorf("the converters do not build: %w", err)
	}
	o := &oracle{cmd: exec.CommandContext(ctx, binary)}
	o.cmd.Stderr = io.Discard // they log
	var err error
	if o.in, err = o.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	o.out = bufio.NewReader(out)
	return o, o.cmd.Start()
}

// close ends the program, and waits until it has.
func (o *oracle) close() error { return errors.Join(o.in.Close(), o.cmd.Wait()) }

// ask has objects of a pair converted.
func (o *oracle) ask(pair int, object []byte) (answer, error) {
	q, err := json.Marshal(map[string]any{"pair": pair, "object": json.RawMessage(object)})
	if err != nil {
		return answer{}, err
	}
	if _, err := o.in.Write(append(q, '\n')); err != nil {
		return answer{}, err
	}
	line, err := o.out.ReadBytes('\n')
	if err != nil {
		return answer{}, err
	}
	var a answer
	return a, json.Unmarshal(line, &a)
}

// folder is where the program is in the copy of a module: beside what is internal there.
func (s subject) folder() string {
	for _, p := range s.Pairs {
		for _, path := range []string{p.Package, p.Via} {
			if above, _, ok := strings.Cut("/"+path+"/", "/internal/"); ok {
				return filepath.Join(strings.TrimPrefix(above, "/"), "draftsoracle")
			}
		}
	}
	return "draftsoracle"
}

// copyModule copies a module; what it replaces by folders that were not published with it
// is replaced no longer.
func copyModule(ctx context.Context, dir string, m module, with []string) error {
	if err := os.CopyFS(dir, os.DirFS(m.Dir)); err != nil {
		return err
	}
	for _, name := range []string{"go.mod", "go.sum"} { // which nobody may write in the cache
		if err := os.Chmod(filepath.Join(dir, name), 0o644); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	text, err := goCommand(ctx, dir, "mod", "edit", "-json")
	if err != nil {
		return err
	}
	var its struct {
		Replace []struct{ Old, New module }
	}
	if err := json.Unmarshal(text, &its); err != nil {
		return err
	}
	edit := []string{"mod", "edit"}
	for _, other := range with {
		edit = append(edit, "-require="+other)
	}
	for _, r := range its.Replace {
		if _, err := os.Stat(filepath.Join(dir, r.New.Path)); r.New.Version == "" && err != nil {
			edit = append(edit, "-dropreplace="+r.Old.Path)
		}
	}
	if len(edit) > 2 {
		_, err = goCommand(ctx, dir, edit...)
	}
	return err
}

// goCommand runs the go command in a folder; its error has what that says.
func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var errs bytes.Buffer
	cmd.Dir, cmd.Stderr, cmd.Env = dir, &errs, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, errs.Bytes())
	}
	return out, nil
}

// register calls functions that schemes are made with, some of which tell of errors.
const register = `
func add(s *runtime.Scheme, with interface{}) {
	switch with := with.(type) {
	case func(*runtime.Scheme):
		with(s)
	case func(*runtime.Scheme) error:
		if err := with(s); err != nil {
			panic(err)
		}
	}
}
`

// pairs is the file with the types of all pairs.
func (s subject) pairs(module string) []byte {
	var b bytes.Buffer
	b.WriteString("package main\n\nimport (\n")
	paths := map[string]string{}
	name := func(of string) string { // path/of/package.Name
		path, what := of[:strings.LastIndex(of, ".")], of[strings.LastIndex(of, ".")+1:]
		if paths[path] == "" {
			paths[path] = fmt.Sprintf("p%d", len(paths))
		}
		return paths[path] + "." + what
	}
	var body bytes.Buffer
	body.WriteString("\nvar pairs = []pair{\n")
	for _, p := range s.Pairs {
		body.WriteString("\t{")
		for _, t := range p.types(module) {
			fmt.Fprintf(&body, "&%s{}, ", name(t))
		}
		body.WriteString("},\n")
	}
	body.WriteString("}\n")
	if len(s.Register) > 0 {
		b.WriteString("\t\"k8s.io/apimachinery/pkg/runtime\"\n")
		body.WriteString("\nfunc init() {\n\ts := runtime.NewScheme()\n")
		for _, add := range s.Register {
			fmt.Fprintf(&body, "\tadd(s, %s)\n", name(module+"/"+add))
		}
		body.WriteString("\tscheme = s\n}\n" + register)
	}
	lines := make([]string, 0, len(paths))
	for path, as := range paths {
		lines = append(lines, fmt.Sprintf("\t%s %q\n", as, path))
	}
	slices.Sort(lines)
	return append(append(b.Bytes(), strings.Join(lines, "")+")\n"...), body.Bytes()...)
}
