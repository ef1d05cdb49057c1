package lossless_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/function"
	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/lossless"
	"github.com/wasmgate/wasmgate/plugins"
)

// Stored objects are tried beside those that are made, if there are any; what they lose is
// told without what they hold.
func TestStoredObjectsAreProvedToo(t *testing.T) {
	d := &unstructured.Unstructured{Object: controllertest.CRDTree("ks", "K", "v1", "v2")}
	asked := ""
	prover := lossless.Prover{Converter: func(name string) *conversion.Bulk {
		asked = name
		return conversion.Batched(function.Converter(func(o map[string]any, _ string) error {
			meta, _ := o["metadata"].(map[string]any)
			if labels, _ := meta["labels"].(map[string]any); labels["team"] == "acme" { // as no made one has
				delete(meta, "labels")
			}
			return nil
		}), conversion.Batch{})
	}}
	prove := func() proof.Report {
		t.Helper()
		report, err := prover.Prove(t.Context(), "tabs@proof", d, nil, nil)
		if err != nil || asked != "tabs@proof" || report.Tried == 0 {
			t.Fatalf("%+v, %v; %q is asked", report, err, asked)
		}
		return report
	}
	if got := prove(); got.Verdict != proof.Lossless {
		t.Errorf("of what is made: %+v", got)
	}
	var err error
	prover.Stored = func(gr schema.GroupResource, most int) ([][]byte, error) {
		if gr.Resource != "ks" || most != 10 {
			t.Errorf("%d of %s are asked for", most, gr)
		}
		object := `{"apiVersion":"` + gr.Group + `/v1","kind":"K","metadata":{"name":"a","namespace":"n","labels":{"team":"acme"}}}`
		return [][]byte{[]byte(object)}, err
	}
	got := prove()
	if got.Verdict != proof.Lossy || !slices.ContainsFunc(got.Losses, func(l proof.Loss) bool { return strings.HasPrefix(l.Field, "metadata.labels") }) || strings.Contains(lossless.Told(got), "acme") {
		t.Errorf("of what is stored: %+v", got)
	}
	if err = errors.New("it is not served yet"); prove().Verdict != proof.Lossless {
		t.Error("what cannot be read is lost")
	}
	for _, wrong := range []map[string]any{{"spec": "x"}, {"metadata": map[string]any{"name": "ks.example.com"}, "spec": map[string]any{"scope": "Cluster", "versions": []any{map[string]any{"name": "v1", "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "object", "x-kubernetes-validations": []any{map[string]any{"rule": "("}}}}}}}}}}} {
		if report, err := prover.Prove(t.Context(), "tabs", &unstructured.Unstructured{Object: wrong}, nil, nil); err == nil {
			t.Errorf("%v is proved: %+v", wrong, report)
		}
	}
}

// A proof that a busy machine cut short is worth another attempt; one that the module's own
// failures cut short is not.
func TestFailuresThatMayGoAway(t *testing.T) {
	d := &unstructured.Unstructured{Object: controllertest.CRDTree("ks", "K", "v1", "v2")}
	for kind, want := range map[plugins.ErrorKind]bool{
		plugins.Deadline: true, plugins.NotReady: true, plugins.NoRoom: true, plugins.Trap: false, plugins.OutOfFuel: false, plugins.BadReply: false,
	} {
		prover := lossless.Prover{Converter: func(string) *conversion.Bulk { return conversion.Batched(fails{kind}, conversion.Batch{}) }}
		got, err := prover.Prove(t.Context(), "tabs", d, nil, nil)
		if err != nil || got.Again != want || (got.Verdict == proof.Unknown) != want || (got.Verdict == proof.Lossy) == want {
			t.Errorf("%s: %+v, %v", kind, got, err)
		}
	}
}

// fails is a converter that fails in one way.
type fails struct{ kind plugins.ErrorKind }

func (f fails) Convert(context.Context, string, [][]byte) ([][]byte, error) {
	return nil, &plugins.CallError{Kind: f.kind, Reason: "so it is"}
}
func (fails) Epoch() uint64 { return 1 }

// A version that objects are only stored at is proved, until nothing is stored at it.
func TestVersionsThatAreOnlyStoredAreProved(t *testing.T) {
	d := &unstructured.Unstructured{Object: controllertest.CRDTree("ks", "K", "v1beta1", "v1")}
	versions, _, _ := unstructured.NestedSlice(d.Object, "spec", "versions")
	versions[0].(map[string]any)["served"] = false
	prover := lossless.Prover{Converter: func(string) *conversion.Bulk {
		return conversion.Batched(function.Converter(func(o map[string]any, _ string) error {
			if meta, ok := o["metadata"].(map[string]any); ok {
				delete(meta, "labels")
			}
			return nil
		}), conversion.Batch{})
	}}
	states := map[string]bool{}
	for _, stored := range [][]string{{"v1beta1", "v1"}, {"v1"}} {
		if err := errors.Join(unstructured.SetNestedSlice(d.Object, versions, "spec", "versions"), unstructured.SetNestedStringSlice(d.Object, stored, "status", "storedVersions")); err != nil {
			t.Fatal(err)
		}
		report, err := prover.Prove(t.Context(), "m", d, nil, nil)
		if loses := len(stored) > 1; err != nil || (report.Verdict == proof.Lossy) != loses || (report.Tried > 0) != loses {
			t.Errorf("stored at %s: %+v, %v", stored, report, err)
		}
		states[lossless.State(d)] = true
	}
	if len(states) != 2 {
		t.Errorf("the states are %v", states)
	}
}
