package options

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// CBORServingAndStorage is the feature gate of requests and replies in CBOR. It
// has kube-apiserver's name, and nothing is stored so.
const CBORServingAndStorage = "CBORServingAndStorage"

// gates are all feature gates; none is on unless it is set.
var gates = []string{CBORServingAndStorage}

// Enabled tells whether a feature gate is on. Of several settings the last
// counts.
func (s Serve) Enabled(gate string) bool {
	on := false
	for _, g := range s.FeatureGates {
		if name, value, _ := strings.Cut(g, "="); name == gate {
			on, _ = strconv.ParseBool(value) // Validate tells
		}
	}
	return on
}

// gateError says what is wrong with a setting of a feature gate.
func gateError(setting string) error {
	name, value, _ := strings.Cut(setting, "=")
	if !slices.Contains(gates, name) {
		return fmt.Errorf("unrecognized feature gate: %s", name)
	}
	if _, err := strconv.ParseBool(value); err != nil {
		return fmt.Errorf("%s must be true or false, got %q", name, value)
	}
	return nil
}
