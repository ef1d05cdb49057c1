package proof_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/conversion/function"
	"github.com/wasmgate/wasmgate/conversion/proof"
)

// What is lost of stored objects is found, and nothing that they hold is told.
func TestNothingThatStoredObjectsHoldIsTold(t *testing.T) {
	const spec = `spec: {type: object, properties: {password: ` + text + `, size: ` + number + `, byName: {type: object, additionalProperties: ` + text + `}, kind: {type: string, maxLength: 40}}}`
	const narrow = `spec: {type: object, properties: {password: ` + text + `, size: ` + number + `, byName: {type: object, additionalProperties: ` + text + `}, kind: {type: string, maxLength: 4}}}`
	c := function.Converter(func(o map[string]any, desired string) error {
		spec, _ := o["spec"].(tree)
		if desired != "example.com/v2" || spec == nil {
			return nil
		}
		if v, ok := spec["size"]; ok && fmt.Sprint(v) == "424242" {
			return fmt.Errorf("%v of %v is too much", v, spec["password"])
		}
		if v, ok := spec["password"].(string); ok && len(v) > 11 { // as no made one is
			delete(spec, "password")
		}
		if byName, ok := spec["byName"].(tree); ok && byName["topsecretkey"] != nil {
			byName["topsecretkey"] = "other"
		}
		return nil
	})
	d := define(t, spec, narrow)
	var objects [][]byte
	for i, spec := range []string{
		`{"password":"hunter2hunter2"}`, `{"byName":{"topsecretkey":"hunter2"}}`, `{"size":424242,"password":"hunter2"}`, `{"kind":"hunter2hunter2"}`, `{"size":1}`, `{"size":"none"}`,
	} {
		objects = append(objects, fmt.Appendf(nil, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"hunter2-%d","namespace":"hunter2","uid":"u","labels":{"hunter2":"hunter2"}},"spec":%s}`, i, spec))
	}
	unreadable := [][]byte{[]byte(`{`), []byte(`{"apiVersion":"example.com/v9"}`), []byte(`{"kind":"` + strings.Repeat("x", 1<<20) + `"}`)}
	objects = slices.Concat(unreadable, objects, unreadable)
	got := proof.Stored(t.Context(), d, c, objects, proof.Options{Budget: 5 * time.Minute})
	found := map[string]bool{}
	for _, l := range got.Losses {
		found[fmt.Sprint(l.Problem, " ", l.Field)] = true
	}
	for _, want := range []string{"Lost spec.password", "Lost spec.byName[*]", "ConversionFails spec.size", "InvalidAtDestination spec.kind"} {
		if !found[want] {
			t.Errorf("%s was not found, but %+v", want, got.Losses)
		}
	}
	if got.Verdict != proof.Lossy || got.Tried != 5 {
		t.Errorf("%+v", got)
	}
	told, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hunter2", "topsecretkey", "424242", "other"} {
		if strings.Contains(string(told), secret) {
			t.Errorf("%s is told: %s", secret, told)
		}
	}
	if len(got.Losses) > 0 && !strings.Contains(string(told), "spec.password: string") {
		t.Errorf("no example says what types there are: %s", told)
	}
	beside := proof.Report{Verdict: proof.Unknown, Tried: 3, Losses: nil}.With(got)
	if beside.Verdict != proof.Lossy || beside.Tried != 8 || len(beside.Losses) != len(got.Losses) || len(beside.With(got).Losses) != len(got.Losses) {
		t.Errorf("together: %+v", beside)
	}
}

// Objects may be stored at a version that is neither served nor written any more: they are
// converted from there. A way back, which nobody needs, has to keep what it is given, and
// may be missing.
func TestVersionsThatObjectsAreOnlyStoredAt(t *testing.T) {
	const spec = `spec: {type: object, properties: {a: ` + text + `}}`
	d := define(t, spec, spec)
	d.Version("v2").Served = false
	drop := func(o tree) { delete(child(o, "spec"), "a") }
	forth := function.Converter(func(_ map[string]any, desired string) error {
		if desired == "example.com/v2" {
			return fmt.Errorf("nobody wants %s any more", desired)
		}
		return nil
	})
	object := []byte(`{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"n","namespace":"default"},"spec":{"a":"x"}}`)
	retired := proof.Pair{From: "v2", To: "v1"}
	if got := proof.PairsOf(d, "v2", "v9"); !slices.Equal(got, []proof.Pair{retired}) || len(proof.PairsOf(d, "v1")) > 0 {
		t.Errorf("pairs are %v", got)
	}
	for what, c := range map[string]struct {
		converter function.Converter
		backToAll bool
		want      string
	}{
		"forth it loses":         {ways(same, drop), false, "Lost spec"},
		"back it loses":          {ways(drop, same), false, "Lost spec"},
		"it keeps all":           {ways(same, same), true, ""},
		"no way back":            {forth, false, ""},
		"no way back, but asked": {forth, true, "ConversionFails "},
	} {
		o := proof.Options{Seed: 1, Budget: 5 * time.Minute, Objects: 20, Stored: []string{"v2", "v1"}, BackToAll: c.backToAll}
		one, err := proof.Try(t.Context(), d, c.converter, tree{"apiVersion": "example.com/v2", "kind": "Widget", "metadata": tree{"name": "n", "namespace": "default"}, "spec": tree{"a": "x"}}, o)
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		for where, losses := range map[string][]proof.Loss{"one": one, "stored": proof.Stored(t.Context(), d, c.converter, [][]byte{object}, o).Losses, "made": proof.Prove(t.Context(), d, c.converter, o).Losses} {
			got := ""
			for _, l := range losses {
				if got += fmt.Sprint(l.Problem, " ", l.Field); l.Pair != retired || l.Back != (l.Problem == proof.Fails) {
					t.Errorf("%s, %s: %+v", what, where, l)
				}
			}
			if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("%s, %s: %q, want %q", what, where, got, c.want)
			}
		}
	}
	if got := proof.Prove(t.Context(), d, ways(same, drop), proof.Options{Objects: 20}); got.Verdict != proof.Lossless || got.Tried > 0 {
		t.Errorf("nothing is stored: %+v", got)
	}
}
