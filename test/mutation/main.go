package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// options are those of the command line.
type options struct {
	count int
	seed  uint64
	only  *regexp.Regexp
	slow  time.Duration
	out   io.Writer
}

func main() {
	o := options{out: os.Stdout}
	flag.IntVar(&o.count, "count", 40, "how many places are broken, of all packages together")
	flag.Uint64Var(&o.seed, "seed", 1, "which places these are")
	only := flag.String("only", "", "break only places at FILE:LINE like this regular expression")
	flag.DurationVar(&o.slow, "slow", 30*time.Second, "leave out packages whose tests take longer")
	flag.Parse()
	var err error
	if o.only, err = regexp.Compile(*only); err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		err = o.mutate(ctx, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

// inPackage are the places of a package that are broken.
type inPackage struct {
	dir     string
	name    string
	sources []*source
	places  []*place
}

// mutate breaks places of packages and tells what their tests notice.
func (o options) mutate(ctx context.Context, patterns []string) error {
	packages, err := o.sample(ctx, patterns)
	if err != nil {
		return err
	}
	noticed, all := 0, 0
	for _, p := range packages {
		if len(p.places) == 0 {
			continue
		}
		n, of, err := o.judge(ctx, p)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fmt.Fprintln(o.out, "left out:", err)
			continue
		}
		fmt.Fprintf(o.out, "%s: %d of %d noticed\n", p.dir, n, of)
		noticed, all = noticed+n, all+of
	}
	fmt.Fprintf(o.out, "%d of %d noticed\n", noticed, all)
	return nil
}

// sample chooses places of all packages.
func (o options) sample(ctx context.Context, patterns []string) ([]*inPackage, error) {
	said, err := exec.CommandContext(ctx, "go", append([]string{"list", "-f", "{{.Dir}}", "--"}, patterns...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var packages []*inPackage
	type chosen struct {
		of *inPackage
		at *place
	}
	var all []chosen
	for dir := range strings.FieldsSeq(string(said)) {
		p := &inPackage{dir: dir}
		if p.name, p.sources, err = placesOf(dir); err != nil {
			return nil, err
		}
		packages = append(packages, p)
		for _, s := range p.sources {
			for _, at := range s.found {
				if o.only.MatchString(fmt.Sprintf("%s:%d", at.file, at.line)) {
					all = append(all, chosen{p, at})
				}
			}
		}
	}
	rand.New(rand.NewPCG(o.seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i, c := range all[:min(o.count, len(all))] {
		c.at.number = i + 1
		c.of.places = append(c.of.places, c.at)
	}
	return packages, nil
}

// judge breaks the places of one package.
func (o options) judge(ctx context.Context, p *inPackage) (noticed, of int, err error) {
	into, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(into)
	program, err := build(ctx, p.dir, into, p.name, p.sources, p.places)
	if err == nil {
		err = program.measure(ctx, o.slow)
	}
	if err != nil {
		return 0, 0, err
	}
	for _, at := range program.places {
		passed, _ := program.run(ctx, at.number, 3*program.base+5*time.Second)
		if ctx.Err() != nil {
			return 0, 0, ctx.Err()
		}
		if passed {
			fmt.Fprintf(o.out, "survived %s/%s:%d: %s\n", filepath.Base(p.dir), filepath.Base(at.file), at.line, at.what)
			continue
		}
		noticed++
	}
	return noticed, len(program.places), nil
}
