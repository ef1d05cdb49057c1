package proof_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/conversion/function"
	"github.com/wasmgate/wasmgate/conversion/proof"
)

// Each failure of a pair is told, once: those that say the same of several fields, and
// those that say something else of one.
func TestEachFailureOfAPairIsTold(t *testing.T) {
	const spec = `spec: {type: object, properties: {port: ` + text + `, count: ` + text + `, size: ` + number + `, zone: ` + text + `}}`
	fails := function.Converter(func(o map[string]any, desired string) error {
		spec, _ := o["spec"].(tree)
		if desired != "example.com/v2" || spec == nil {
			return nil
		}
		for _, name := range []string{"count", "port"} {
			if v, ok := spec[name].(string); ok && strings.Trim(v, "0123456789") != "" {
				return fmt.Errorf("cannot read %s as a number", v) // which does not say where
			}
		}
		if v, ok := spec["size"]; ok && strings.HasPrefix(fmt.Sprint(v), "-") {
			return fmt.Errorf("the size %v is less than nothing", v)
		}
		if v, ok := spec["size"]; ok && len(fmt.Sprint(v)) > 9 {
			return fmt.Errorf("the size %v is too large", v)
		}
		delete(spec, "zone")
		return nil
	})
	got := proof.Prove(t.Context(), define(t, spec, spec), fails, proof.Options{Budget: 5 * time.Minute, Objects: 300, Pairs: []proof.Pair{{From: "v1", To: "v2"}}})
	told := map[string]int{}
	for _, l := range got.Losses {
		what := ""
		if _, rest, ok := strings.Cut(l.Message, " is "); ok {
			what = " " + rest
		}
		told[string(l.Problem)+" "+l.Field+what]++
	}
	want := map[string]int{"ConversionFails spec.count": 1, "ConversionFails spec.port": 1, "ConversionFails spec.size less than nothing": 1, "ConversionFails spec.size too large": 1, "Lost spec.zone": 1}
	if !maps.Equal(told, want) {
		t.Errorf("told are %v, want %v: %+v", told, want, got.Losses)
	}
}
