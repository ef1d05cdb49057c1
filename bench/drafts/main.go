// Command drafts owns a measurement: what `wasmgate module init --from` makes of the
// CustomResourceDefinitions that other projects published, beside what their own converters
// do to objects (published.yaml):
//
//	go run ./bench/drafts
//	go run ./bench/drafts -only cert-manager -v
//
// It takes the modules from the Go module proxy, and builds for each a program with its
// converters. Objects with one value, and with another one at the same place, tell where
// that value goes. It must not know the gateway.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

//go:embed published.yaml
var published []byte

// subject is a module, and pairs of versions in it.
type subject struct {
	// Module is path@version, or the path of a folder.
	Module string
	// With are modules of which it needs other versions than it asks for.
	With []string
	// Register are functions that make a scheme know the conversions, where types have
	// no methods for them.
	Register []string
	Pairs    []versions
}

// versions are two versions of a kind.
type versions struct {
	// File is that of the definition, Kind the Go type, and Package the folder that has
	// one for each version. Via is the type through which converters go, if any.
	File, From, To, Kind, Package, Via string
}

// types are those that an object passes.
func (v versions) types(module string) []string {
	at := func(version string) string { return module + "/" + v.Package + "/" + version + "." + v.Kind }
	if v.Via != "" {
		return []string{at(v.From), module + "/" + v.Via + "." + v.Kind, at(v.To)}
	}
	return []string{at(v.From), at(v.To)}
}

func main() {
	only := flag.String("only", "", "the subjects whose module or file matches this regular expression")
	verbose := flag.Bool("v", false, "list the changed fields")
	limit := flag.Duration("time", time.Hour, "how long all of it may take")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), *limit)
	defer cancel()
	if err := run(ctx, regexp.MustCompile(*only), *verbose); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only *regexp.Regexp, verbose bool) error {
	var all []subject
	if err := yaml.UnmarshalStrict(published, &all); err != nil {
		return err
	}
	var total report
	fmt.Print(head)
	for _, s := range all {
		chosen := s
		chosen.Pairs = nil
		for _, p := range s.Pairs {
			if only.MatchString(s.Module) || only.MatchString(p.File) {
				chosen.Pairs = append(chosen.Pairs, p)
			}
		}
		if len(chosen.Pairs) == 0 {
			continue
		}
		m, err := download(ctx, s.Module)
		if err != nil {
			return err
		}
		reports, err := chosen.measure(ctx, m)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Module, err)
		}
		for _, r := range reports {
			r.print(os.Stdout, verbose)
			total.include(r)
		}
	}
	total.name = fmt.Sprintf("%d pairs of which a field changes", total.pairs)
	total.print(os.Stdout, false)
	return nil
}

// download brings a module into the cache.
func download(ctx context.Context, name string) (m module, err error) {
	out, err := goCommand(ctx, ".", "mod", "download", "-json", name)
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(out, &m)
}

// measure compares the pairs of a subject.
func (s subject) measure(ctx context.Context, m module) ([]report, error) {
	dir, err := os.MkdirTemp("", "drafts")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	o, err := newOracle(ctx, dir, m, s)
	if err != nil {
		return nil, err
	}
	return s.ask(ctx, o, m)
}

// ask compares the pairs of a subject with what a program says, and ends that.
func (s subject) ask(ctx context.Context, o *oracle, m module) (out []report, err error) {
	defer func() { err = errors.Join(err, o.close()) }()
	for i, v := range s.Pairs {
		r, err := v.compare(ctx, o, i, filepath.Join(m.Dir, v.File))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.File, err)
		}
		base := strings.TrimSuffix(s.Module, "/v2")
		path, _, _ := strings.Cut(base, "@")
		r.name = fmt.Sprintf("%s %s %s:%s", filepath.Base(path), v.Kind, v.From, v.To)
		out = append(out, r)
	}
	return out, nil
}
