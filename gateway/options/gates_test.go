package options

import (
	"strings"
	"testing"
)

func TestFeatureGates_MT10(t *testing.T) {
	for settings, on := range map[string]bool{
		"": false, "CBORServingAndStorage=true": true, "CBORServingAndStorage=1": true, "CBORServingAndStorage=false": false,
		"CBORServingAndStorage=true,CBORServingAndStorage=false": false, "CBORServingAndStorage=false,CBORServingAndStorage=true": true,
	} {
		s := Default()
		if settings != "" {
			s.FeatureGates = strings.Split(settings, ",")
		}
		if err := s.Validate(); err != nil || s.Enabled(CBORServingAndStorage) != on || s.Enabled("Other") {
			t.Errorf("%q: %v, %v", settings, s.Enabled(CBORServingAndStorage), err)
		}
	}
	for setting, want := range map[string]string{
		"Nothing=true":                "--feature-gates: unrecognized feature gate: Nothing",
		"=true":                       "--feature-gates: unrecognized feature gate: ",
		"CBORServingAndStorage":       `--feature-gates: CBORServingAndStorage must be true or false, got ""`,
		"CBORServingAndStorage=maybe": `--feature-gates: CBORServingAndStorage must be true or false, got "maybe"`,
	} {
		s := Default()
		s.FeatureGates = []string{setting}
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", setting, err)
		}
	}
}
