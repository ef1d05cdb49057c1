// Package offline owns the tools of the workbench that run in this process: the
// runtime of modules, and what tries them.
//
// It must not know servers nor the command line.
package offline

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/registry"
	"github.com/wasmgate/wasmgate/plugins/wasm"
)

// Tools implements [workbench.Tools].
type Tools struct{}

var _ workbench.Tools = Tools{}

// running is a module that was loaded.
type running struct {
	plugins.Status
	conversion.Converter
	close func()
}

// load compiles a module and starts it.
func load(ctx context.Context, m workbench.Module) (*running, error) {
	engine, err := wasm.NewEngine(ctx, wasm.Config{})
	if err != nil {
		return nil, err
	}
	modules := registry.New(registry.Config{Compiler: engine})
	end := context.WithoutCancel(ctx)
	r := &running{close: func() {
		_ = modules.Close(end)
		_ = engine.Close(end)
	}}
	r.Status, err = modules.Set(ctx, m.Name, plugins.Revision{Digest: digest(m.Content), Bytes: m.Content, Config: m.Config})
	if err != nil {
		r.close()
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	r.Converter = modules.Converter(m.Name)
	return r, nil
}

func digest(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }

// converting is load of a module that has to convert.
func converting(ctx context.Context, m workbench.Module) (*running, error) {
	r, err := load(ctx, m)
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
	r, err := converting(ctx, what.Module)
	if err != nil {
		return workbench.Findings{}, err
	}
	defer r.close()
	report := proof.Prove(ctx, d, r.Converter, proof.Options{
		Seed: what.Seed, Budget: what.Budget, Objects: what.Objects, Pairs: pairs, Acknowledged: what.Acknowledged, Temporary: temporary,
	})
	out := workbench.Findings{
		Definition: d.Plural + "." + d.Group, Lossless: string(report.Verdict), Why: report.Why,
		Tried: report.Tried, Reached: report.Reached, Fields: report.Fields, Seed: what.Seed,
	}
	for _, l := range report.Losses {
		out.Losses = append(out.Losses, workbench.Loss{
			From: l.From, To: l.To, Problem: string(l.Problem), Field: l.Field, Place: l.Place,
			Had: l.Had, Got: l.Got, Message: l.Message, Example: l.Example,
		})
	}
	return out, nil
}

// temporary are the failures of calls that a busy machine may cause.
func temporary(err error) bool {
	var call *plugins.CallError
	return errors.As(err, &call) && (call.Kind == plugins.Deadline || call.Kind == plugins.NotReady)
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

// Convert implements [workbench.Tools].
func (Tools) Convert(ctx context.Context, what workbench.Conversion) ([]byte, error) {
	apiVersion, ok := object.String(object.Field(what.Object, "apiVersion"))
	group, _, hasGroup := strings.Cut(apiVersion, "/")
	if !ok || !hasGroup {
		return nil, errors.New("the object has no apiVersion of the form GROUP/VERSION")
	}
	to := group + "/" + what.To
	var d *crd.Definition
	if len(what.Definitions) > 0 {
		var err error
		if d, err = readDefinition(what.Definitions); err != nil {
			return nil, err
		}
		for _, v := range []string{apiVersion, to} {
			if d.At(v) == nil {
				return nil, fmt.Errorf("%s.%s has no version %s", d.Plural, d.Group, v)
			}
		}
	}
	r, err := converting(ctx, what.Module)
	if err != nil {
		return nil, err
	}
	defer r.close()
	out, err := r.Convert(ctx, to, [][]byte{what.Object})
	if err != nil || d == nil {
		return first(out), err
	}
	tree, _, err := object.Parse(first(out))
	if err != nil {
		return nil, err
	}
	if err := d.At(to).Shape.FromConversion(tree); err != nil {
		return nil, err
	}
	return object.Encode(tree)
}

func first(all [][]byte) []byte {
	if len(all) == 0 {
		return nil
	}
	return all[0]
}
