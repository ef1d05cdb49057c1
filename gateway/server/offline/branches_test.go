package offline_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/gateway/server/offline"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/registry"
	"github.com/wasmgate/wasmgate/plugins/wasm"
)

// hidden is a definition whose versions plugintest.Lossy hides losses between.
func hidden() []byte {
	const spec = `spec: {type: object, properties: {strategy: {type: string}, note: {type: string}, size: {type: integer}, quota: {type: string}, zone: {type: string},
		rules: {type: array, items: {type: object, properties: {verb: {type: string}, port: {type: integer}, level: {type: string}, from: {type: string}}}}}}`
	return versions("beta1", spec, spec)
}

// What a module loses behind branches that objects of the schema do not take is found,
// and not by somebody who is not led by them.
func TestBranchesOfModulesAreFollowed(t *testing.T) {
	got, err := offline.Tools{}.Prove(t.Context(), workbench.Proof{Module: module(t, plugintest.Lossy, ``), Definitions: hidden(), Objects: 400, Budget: 10 * time.Minute, Seed: 1, Pairs: []string{"v1beta1:v2beta1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d objects, %+v", got.Tried, got.Branches)
	for _, field := range []string{"spec.note", "spec.quota"} {
		if !slices.ContainsFunc(got.Losses, func(l workbench.Loss) bool { return l.Field == field }) {
			t.Errorf("%s is not among %+v", field, got.Losses)
		}
	}
	if b := got.Branches; b == nil || b.Taken < 100 || b.Taken >= b.All {
		t.Errorf("branches: %+v", b)
	}
	if got := unguided(t, plugintest.Build(t, plugintest.Lossy), offline.Definition(t, hidden())); got.Verdict != proof.Lossless || got.Coverage != nil {
		t.Errorf("who does not follow them finds %+v", got)
	}
}

// unguided proves a module without being told which branches it takes.
func unguided(t *testing.T, content []byte, d *crd.Definition) proof.Report {
	engine, err := wasm.NewEngine(t.Context(), wasm.Config{CacheDir: offline.Compiled()})
	if err != nil {
		t.Fatal(err)
	}
	modules := registry.New(registry.Config{Compiler: engine, LoadTimeout: 10 * time.Minute})
	defer func() {
		_ = modules.Close(context.Background())
		_ = engine.Close(context.Background())
	}()
	if _, err := modules.Set(t.Context(), "m", plugins.Revision{Digest: "sha256:m", Bytes: content, Branches: &plugins.Branches{}}); err != nil {
		t.Fatal(err)
	}
	return proof.Prove(t.Context(), d, modules.Converter("m"), proof.Options{Seed: 1, Budget: 10 * time.Minute, Objects: 800, Pairs: []proof.Pair{{From: "v1beta1", To: "v2beta1"}}})
}
