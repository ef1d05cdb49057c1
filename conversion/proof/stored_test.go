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
