// Package policy owns one judgement of writes: what has no label "team" is
// refused, what says no "tier" gets one, and a team that is called "none" is
// warned of.
//
// examples/policy/module makes a Wasm module of it; the same package serves an
// HTTPS webhook through sdk.HandleAdmission. It must not know the gateway.
package policy

import (
	"errors"

	"github.com/wasmgate/wasmgate/sdk"
)

func init() { sdk.Admit(Admit) }

// Admit is the policy. Deletions are always allowed.
func Admit(r *sdk.Review) error {
	if r.Object == nil {
		return nil
	}
	switch team, _ := r.Object.At("metadata", "labels", "team").String(); team {
	case "":
		return errors.New(r.Object.Kind() + " " + r.Object.Name() + ` needs a label "team"`)
	case "none":
		r.Warn("nobody is responsible for " + r.Object.Name())
	}
	if tier := r.Object.At("metadata", "labels", "tier"); !tier.Exists() {
		return tier.SetString("standard")
	}
	return nil
}
