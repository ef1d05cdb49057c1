package rules_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/rules"
)

// FuzzRules compiles any rules, and converts any object by those that compile: nothing
// panics, and what comes out is an object at the version, or an error.
func FuzzRules(f *testing.F) {
	for _, o := range operations {
		data := spec(f, o.list)
		f.Add(mustJSON(f, data), []byte(whole("v1", o.v1)))
		f.Add(mustJSON(f, data), []byte(whole("v2", o.v2)))
	}
	f.Fuzz(func(t *testing.T, written, object []byte) {
		s, err := rules.Decode(written)
		if err != nil {
			return
		}
		r, errs := rules.Compile(s)
		if len(errs) > 0 {
			for _, e := range errs {
				if !strings.HasPrefix(e.Field, "spec.conversions") {
					t.Errorf("%q is no field of the rules", e.Field)
				}
			}
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		for _, to := range []string{"example.com/v1", "example.com/v2"} {
			// The checks of replies refuse what is no object of that kind and name.
			out, err := conversion.Batched(r, conversion.Batch{}).Convert(ctx, to, [][]byte{object})
			if err == nil && len(out) != 1 {
				t.Errorf("%d objects", len(out))
			}
			if err != nil && strings.Contains(err.Error(), "defect of the server") {
				t.Error(err)
			}
		}
	})
}
