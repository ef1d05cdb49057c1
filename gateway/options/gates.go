package options

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The feature gates that do something. They have kube-apiserver's names.
const (
	// CBORServingAndStorage is for requests and replies in CBOR; nothing is
	// stored so.
	CBORServingAndStorage = "CBORServingAndStorage"
	// AllowUnsafeMalformedObjectDeletion is for deletions of objects that cannot
	// be read.
	AllowUnsafeMalformedObjectDeletion = "AllowUnsafeMalformedObjectDeletion"
	// APIResponseCompression is for replies in gzip.
	APIResponseCompression = "APIResponseCompression"
	// ListFromCacheSnapshot answers lists of past revisions from memory.
	ListFromCacheSnapshot = "ListFromCacheSnapshot"
	// WatchList is for watches that begin with what exists.
	WatchList = "WatchList"
)

// The stages of a feature, as kube-apiserver's metric names them. What is alpha
// is off by default, what is beta on, and the rest on without a choice.
const (
	alpha  = "ALPHA"
	beta   = "BETA"
	stable = ""
)

// Gate is a feature gate and whether it is on.
type Gate struct {
	// Name is kube-apiserver's.
	Name string
	// Stage is ALPHA, BETA, or empty for what is stable.
	Stage string
	On    bool
}

// gates are all feature gates, with their defaults. Those that are stable are
// known so that command lines which turn them on go on working.
var gates = []Gate{
	{APIResponseCompression, beta, true},
	{AllowUnsafeMalformedObjectDeletion, alpha, false},
	{CBORServingAndStorage, alpha, false},
	{"ConsistentListFromCache", stable, true},
	{ListFromCacheSnapshot, beta, true},
	{"StreamingCollectionEncodingToJSON", stable, true},
	{"StreamingCollectionEncodingToProtobuf", stable, true},
	{WatchList, beta, true},
}

// wholeStages are the gates that set all of a stage that are not set themselves;
// they are off unless they are set.
var wholeStages = map[string]string{"AllAlpha": alpha, "AllBeta": beta}

// Gates are all feature gates as they are set, and those of whole stages. Of several settings the last
// counts, and one of a gate itself before one of its stage.
func (s Serve) Gates() []Gate {
	own, stages := map[string]bool{}, map[string]bool{}
	for _, setting := range s.FeatureGates {
		name, value, _ := strings.Cut(setting, "=")
		on, err := strconv.ParseBool(value)
		if err != nil {
			continue // Validate tells
		}
		own[name] = on
		if stage, whole := wholeStages[name]; whole {
			stages[stage] = on
		}
	}
	out := slices.Clone(gates)
	for i := range out {
		g := &out[i]
		if on, set := own[g.Name]; set {
			g.On = on
		} else if on, set := stages[g.Stage]; set {
			g.On = on
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wholeStages)) {
		out = append(out, Gate{name, wholeStages[name], own[name]})
	}
	return out
}

// Enabled tells whether a feature gate is on.
func (s Serve) Enabled(gate string) bool {
	return slices.ContainsFunc(s.Gates(), func(g Gate) bool { return g.Name == gate && g.On })
}

// GateWarnings tell which settings of feature gates do nothing, and will be
// refused one day.
func (s Serve) GateWarnings() (out []string) {
	for _, setting := range s.FeatureGates {
		name, value, _ := strings.Cut(setting, "=")
		if g := gateOf(name); g != nil && g.Stage == stable {
			out = append(out, fmt.Sprintf("Setting GA feature gate %s=%s. It will be removed in a future release.", name, value))
		}
	}
	return out
}

// GateUsage lists the gates that may be chosen, for --help.
func GateUsage() string {
	var lines []string
	for name, stage := range wholeStages {
		lines = append(lines, fmt.Sprintf("%s=true|false (%s - default=false)", name, stage))
	}
	for _, g := range gates {
		if g.Stage != stable {
			lines = append(lines, fmt.Sprintf("%s=true|false (%s - default=%t)", g.Name, g.Stage, g.On))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func gateOf(name string) *Gate {
	i := slices.IndexFunc(gates, func(g Gate) bool { return g.Name == name })
	if i < 0 {
		return nil
	}
	return &gates[i]
}

// gateError says what is wrong with a setting of a feature gate.
func gateError(setting string) error {
	name, value, _ := strings.Cut(setting, "=")
	g := gateOf(name)
	if _, whole := wholeStages[name]; g == nil && !whole {
		return fmt.Errorf("unrecognized feature gate: %s", name)
	}
	on, err := strconv.ParseBool(value)
	if err != nil {
		return fmt.Errorf("%s must be true or false, got %q", name, value)
	}
	if g != nil && g.Stage == stable && !on {
		return fmt.Errorf("cannot set feature gate %s to %t, feature is locked to %t", name, on, g.On)
	}
	return nil
}
