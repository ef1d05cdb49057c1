// Package offline owns the tools of the workbench that run in this process: the
// runtime of modules, and what tries them.
//
// It must not know servers nor the command line.
package offline

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/conversion/webhook"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/registry"
	"github.com/wasmgate/wasmgate/plugins/wasm"
)

// Tools implements [workbench.Tools].
type Tools struct{}

var _ workbench.Tools = Tools{}

// running is a module that was loaded, or rules that were compiled.
type running struct {
	plugins.Status
	conversion.Converter
	// modules has the module; nil for rules.
	modules *registry.Registry
	close   func()
	// branches are what its calls tell those of; nil for none.
	branches *plugins.Branches
	// acknowledged are paths of fields whose loss is meant, as the file says.
	acknowledged []string
}

// compiled is the folder that keeps compiled code, for tests that load the same modules
// again and again; "" for none.
var compiled string

// patience is how long a module may take to load. Who does not wait that long ends the
// command: nobody tries it again, as a gateway does.
const patience = time.Hour

// load compiles a module and starts it.
func load(ctx context.Context, m workbench.Module) (*running, error) {
	return loadSeen(ctx, m, &seen{})
}

// seen is what calls of a module cost and said.
type seen struct {
	mu     sync.Mutex
	fuel   int64
	memory int64
	log    []string
	// branches are told which branches its calls take; nil where nobody asks.
	branches *plugins.Branches
}

// maxLog is how many lines of a module's log are kept.
const maxLog = 1000

func (s *seen) used(_ string, _ plugins.Hook, u plugins.Usage, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fuel += u.Fuel
	s.memory = max(s.memory, u.MemoryBytes)
}

func (s *seen) logged(_, line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.log) < maxLog {
		s.log = append(s.log, line)
	}
}

// since forgets what was seen, and returns it.
func (s *seen) since() (fuel, memory int64, log []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fuel, memory, log = s.fuel, s.memory, s.log
	s.fuel, s.memory, s.log = 0, 0, nil
	return fuel, memory, log
}

// loadSeen is load of a module that is watched.
func loadSeen(ctx context.Context, m workbench.Module, s *seen) (*running, error) {
	if !bytes.HasPrefix(m.Content, []byte("\x00asm")) {
		if r, err := readRules(m); r != nil || err != nil {
			return r, err
		}
	}
	engine, err := wasm.NewEngine(ctx, wasm.Config{Log: s.logged, CacheDir: compiled})
	if err != nil {
		return nil, err
	}
	modules := registry.New(registry.Config{Compiler: engine, Observe: s.used, LoadTimeout: patience})
	end := context.WithoutCancel(ctx)
	r := &running{close: func() {
		_ = modules.Close(end)
		_ = engine.Close(end)
	}}
	r.Status, err = modules.Set(ctx, m.Name, plugins.Revision{Digest: digest(m.Content), Bytes: m.Content, Config: m.Config, Limits: plugins.Limits(m.Limits), Branches: s.branches})
	if err != nil {
		r.close()
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	r.Converter, r.modules, r.branches = modules.Converter(m.Name), modules, s.branches
	return r, nil
}

// Check tells of modules, by their names, why they cannot be loaded, as far as that is
// seen without compiling them, and keeps nothing.
func Check(ctx context.Context, modules map[string][]byte) (map[string]error, error) {
	engine, err := wasm.NewEngine(ctx, wasm.Config{})
	if err != nil {
		return nil, err
	}
	refused := map[string]error{}
	for name, content := range modules {
		if err := engine.Check(name, content); err != nil {
			refused[name] = err
		}
	}
	return refused, engine.Close(context.WithoutCancel(ctx))
}

func digest(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }

// converting is load of a module that has to convert.
func converting(ctx context.Context, m workbench.Module) (*running, error) {
	return convertingSeen(ctx, m, &seen{})
}

func convertingSeen(ctx context.Context, m workbench.Module, s *seen) (*running, error) {
	r, err := loadSeen(ctx, m, s)
	if err != nil {
		return nil, err
	}
	for _, h := range r.Hooks {
		if h == plugins.Convert {
			return r, nil
		}
	}
	r.close()
	return nil, fmt.Errorf("%s does not have the hook %s", m.Name, plugins.Convert)
}

// Prove implements [workbench.Tools].
func (Tools) Prove(ctx context.Context, what workbench.Proof) (workbench.Findings, error) {
	d, err := readDefinition(what.Definitions)
	if err != nil {
		return workbench.Findings{}, err
	}
	pairs, err := pairsOf(d, what.Pairs)
	if err != nil {
		return workbench.Findings{}, err
	}
	r, err := proved(ctx, what)
	if err != nil {
		return workbench.Findings{}, err
	}
	defer r.close()
	o := proof.Options{
		Seed: what.Seed, Budget: what.Budget, Objects: what.Objects, Pairs: pairs, Acknowledged: append(r.acknowledged, what.Acknowledged...), Temporary: temporary,
		BackToAll: len(what.Pairs) > 0,
	}
	if r.branches != nil {
		o.Branches = r.branches
	}
	if what.Webhook != nil {
		o.PerSecond, o.Temporary = what.Webhook.PerSecond, webhook.Unreachable
	}
	report := proof.Prove(ctx, d, r.Converter, o)
	out := workbench.Findings{
		Definition: d.Plural + "." + d.Group, Lossless: string(report.Verdict), Why: report.Why,
		Tried: report.Tried, Reached: report.Reached, Fields: report.Fields, Seed: what.Seed,
	}
	if report.Coverage != nil {
		out.Branches = (*workbench.Coverage)(report.Coverage)
	}
	out.Losses = told(report.Losses)
	return out, nil
}

func told(losses []proof.Loss) (all []workbench.Loss) {
	for _, l := range losses {
		all = append(all, workbench.Loss{
			From: l.From, To: l.To, Problem: string(l.Problem), Field: l.Field, Place: l.Place,
			Had: l.Had, Got: l.Got, Message: l.Message, Example: l.Example,
		})
	}
	return all
}

// temporary are the failures of calls that a busy machine may cause.
func temporary(err error) bool {
	var call *plugins.CallError
	return errors.As(err, &call) && (call.Kind == plugins.Deadline || call.Kind == plugins.NotReady || call.Later())
}

// pairsOf reads pairs of versions, FROM:TO.
func pairsOf(d *crd.Definition, texts []string) ([]proof.Pair, error) {
	all := proof.PairsOf(d)
	if len(texts) == 0 {
		if len(all) == 0 {
			return nil, fmt.Errorf("%s.%s has one version: there is nothing to convert", d.Plural, d.Group)
		}
		return all, nil
	}
	var pairs []proof.Pair
	for _, text := range texts {
		from, to, ok := strings.Cut(text, ":")
		switch {
		case !ok || from == to:
			return nil, fmt.Errorf("%q is no pair of versions: want FROM:TO, for example %s", text, example(all))
		case d.Version(from) == nil || d.Version(to) == nil:
			return nil, fmt.Errorf("%q names a version that %s.%s does not have: want FROM:TO, for example %s", text, d.Plural, d.Group, example(all))
		}
		pairs = append(pairs, proof.Pair{From: from, To: to})
	}
	return pairs, nil
}

func example(all []proof.Pair) string {
	if len(all) == 0 {
		return "v1:v2"
	}
	return all[0].String()
}
