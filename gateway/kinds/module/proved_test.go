package module_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/kinds/module"
)

// Proofs are tried again a few times, after pauses that grow; one that could not be tried
// counts as none.
func TestProofsAreTriedAgain(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	for attempts, want := range map[int64]bool{0: false, 1: true, 3: true, 4: false} {
		p := module.Proved{Lossless: metav1.ConditionUnknown, Attempts: attempts, Last: at}
		if p.Again() != want {
			t.Errorf("after %d attempts: %v", attempts, !want)
		}
		if p.Lossless = metav1.ConditionTrue; p.Again() {
			t.Error("what is known is tried again")
		}
		if got, want := p.Due(at.Time), []time.Duration{15 * time.Second, 15 * time.Second, 0, time.Minute, 2 * time.Minute}[attempts]; got != want {
			t.Errorf("after %d attempts it waits %s, want %s", attempts, got, want)
		}
	}
	before := module.Proved{Revision: "r", Definition: "d", Inputs: "i", Attempts: 2, Last: at}
	for what, c := range map[string]struct {
		came  module.Proved
		tried bool
		p     module.Proved
		want  int64
	}{
		"known":            {module.Proved{}, true, before, 0},
		"tried":            {module.Proved{Attempts: 1}, true, before, 3},
		"not tried":        {module.Proved{Attempts: 1}, false, before, 2},
		"not tried before": {module.Proved{Attempts: 1}, false, module.Proved{Revision: "r", Definition: "d", Inputs: "i"}, 1},
	} {
		got := c.p.Then(c.came, c.tried)
		if got.Attempts != c.want || got.Revision != "r" || got.Definition != "d" || got.Inputs != "i" || (c.want == 2) != got.Last.Equal(&at) {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

// What is known is found by all that it depends on.
func TestWhatAProofDependsOn(t *testing.T) {
	const spec = `{"metadata":{"name":"d"},"spec":{"conversion":{"strategy":"None"},"versions":[{"name":"v1"}]`
	mod, definition := read(t, `{"spec":{"acknowledgedLoss":["b","a",7],"proof":"Enforce"}}`), read(t, spec+`}}`)
	inputs := module.ProofInputs(mod, definition)
	if asked, lost := module.ProofAsked(mod); asked != module.EnforceProof || !slices.Equal(lost, []string{"b", "a"}) {
		t.Errorf("%s, %q", asked, lost)
	}
	for text, same := range map[string]bool{
		`{"spec":{"acknowledgedLoss":["a","b"]}}`: true, `{"spec":{"acknowledgedLoss":["a"]}}`: false,
		`{"metadata":{"annotations":{"wasmgate.dev/retry":"1"}},"spec":{"acknowledgedLoss":["a","b"]}}`: false,
	} {
		if got := module.ProofInputs(read(t, text), definition) == inputs; got != same {
			t.Errorf("%s: the same inputs: %v", text, got)
		}
	}
	for text, same := range map[string]bool{
		spec + `,"scope":"Cluster"}}`: true, spec + `,"preserveUnknownFields":true}}`: false, strings.ReplaceAll(spec, "v1", "v2") + `}}`: false, strings.ReplaceAll(spec, "None", "Webhook") + `}}`: false,
		spec + `},"status":{"storedVersions":["v0"]}}`: false, strings.ReplaceAll(spec, `"v1"`, `"v1","storage":true`) + `}}`: false,
	} {
		if got := module.ProofInputs(mod, read(t, text)) == inputs; got != same {
			t.Errorf("%s: the same inputs: %v", text, got)
		}
	}
	proofs := []module.Proved{{Revision: "r", Definition: "d", Inputs: "j"}, {Revision: "r", Definition: "e", Inputs: "i"}, {Revision: "q", Definition: "d", Inputs: "i"}, {Revision: "r", Definition: "d", Inputs: "i", Tried: 7}}
	if p, ok := module.ProvedOf(proofs, "r", "d", "i"); !ok || p.Tried != 7 {
		t.Errorf("%+v, %v", p, ok)
	}
	if p, ok := module.ProvedOf(proofs[:3], "r", "d", "i"); ok || p != (module.Proved{}) {
		t.Errorf("%+v, %v", p, ok)
	}
	if p, ok := module.ProvedOf(proofs, "r", "d", "j"); !ok || p.Inputs != "j" {
		t.Errorf("the first: %+v, %v", p, ok)
	}
}

// Only definitions that convert with a module are its own to be proved for, by name.
func TestWhichDefinitionsAModuleConverts(t *testing.T) {
	definition := func(name, url, more string) *unstructured.Unstructured {
		return read(t, `{"metadata":{"name":"`+name+`"},"spec":{"names":{"kind":"K"},"conversion":{"webhook":{"clientConfig":{"url":"`+url+`"}}},"versions":[{"name":"v1","served":true,"storage":true}`+more+`]}}`)
	}
	const second = `,{"name":"v2","served":true}`
	var got []string
	for _, d := range module.Converting([]*unstructured.Unstructured{definition("b", "wasm://m", second), definition("a", "wasm://m", second), definition("c", "wasm://m", ""), definition("d", "wasm://n", second)}, "m") {
		got = append(got, d.GetName())
	}
	if !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q", got)
	}
}

// The status says what is known, shortened where there is much of it, and is not written
// again when it says so already.
func TestProofsAreWrittenOnce(t *testing.T) {
	obj := read(t, `{"status":{"digest":"sha256:1"}}`)
	long := make([]module.Proved, module.MaxProved)
	for i := range long {
		long[i] = module.Proved{Definition: fmt.Sprint(i), Message: strings.Repeat("ä", 2000)}
	}
	fits := module.Proved{Definition: "x", Message: strings.Repeat("a", 256)}
	long[0] = fits
	for _, c := range []struct {
		proofs  []module.Proved
		changed bool
	}{{nil, false}, {[]module.Proved{{Definition: "d"}}, true}, {[]module.Proved{{Definition: "d"}}, false}, {long, true}, {long, false}, {nil, true}} {
		if changed, err := module.SetProofs(obj, c.proofs); err != nil || changed != c.changed {
			t.Errorf("%d proofs: written %v, %v", len(c.proofs), changed, err)
		}
		said := module.StatusOf(obj)
		if len(said.Proofs) != len(c.proofs) || said.Digest != "sha256:1" {
			t.Errorf("%d proofs: %d are there, of %q", len(c.proofs), len(said.Proofs), said.Digest)
		}
		if _, there := obj.Object["status"].(map[string]any)["proofs"]; there != (len(c.proofs) > 0) {
			t.Errorf("%d proofs: a list is there: %v", len(c.proofs), there)
		}
		if len(c.proofs) > 1 && (said.Proofs[0] != fits || said.Proofs[1].Message != strings.Repeat("ä", 128)+"...") {
			t.Errorf("%q, %q", said.Proofs[0].Message, said.Proofs[1].Message)
		}
	}
	if _, err := module.SetProofs(obj, []module.Proved{{Message: strings.Repeat("a", 3000)}}); err != nil || len(module.StatusOf(obj).Proofs[0].Message) != 3000 {
		t.Errorf("a single one is shortened to %d: %v", len(module.StatusOf(obj).Proofs[0].Message), err)
	}
}
