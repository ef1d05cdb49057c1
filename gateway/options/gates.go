package options

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wasmgate/wasmgate/lifecycle"
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
	// DeclarativeValidation runs rules that are generated from Go types beside the others.
	DeclarativeValidation = "DeclarativeValidation"
	// DeclarativeValidationTakeover has these rules decide.
	DeclarativeValidationTakeover = "DeclarativeValidationTakeover"
	// ListFromCacheSnapshot answers lists of past revisions from memory.
	ListFromCacheSnapshot = "ListFromCacheSnapshot"
	// ManifestBasedAdmissionControlConfig is for guards from folders.
	ManifestBasedAdmissionControlConfig = "ManifestBasedAdmissionControlConfig"
	// WatchList is for watches that begin with what exists.
	WatchList = "WatchList"
)

// The stages of a feature, as kube-apiserver's metric names them. What is alpha
// is off by default, what is stable on without a choice.
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
	// life is nil of those of whole stages.
	life *lifecycle.Gate
}

// gatesAt are all feature gates of a release, with their defaults. Those that are
// stable are known so that command lines which turn them on go on working.
func gatesAt(table []lifecycle.Gate, now lifecycle.Release) (out []Gate) {
	stages := map[lifecycle.Stability]string{lifecycle.Alpha: alpha, lifecycle.Beta: beta, lifecycle.Stable: stable}
	for i := range table {
		if s := table[i].At(now); s != nil {
			out = append(out, Gate{table[i].Name, stages[s.Stability], s.On, &table[i]})
		}
	}
	return out
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
	out := gatesAt(lifecycle.Gates, s.Release())
	for i := range out {
		g := &out[i]
		if on, set := own[g.Name]; set {
			g.On = on
		} else if on, set := stages[g.Stage]; set {
			g.On = on
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wholeStages)) {
		out = append(out, Gate{Name: name, Stage: wholeStages[name], On: own[name]})
	}
	return out
}

// Enabled tells whether a feature gate is on.
func (s Serve) Enabled(gate string) bool {
	return slices.ContainsFunc(s.Gates(), func(g Gate) bool { return g.Name == gate && g.On })
}

// GateWarnings tell which settings of feature gates are about to be refused, and
// whether they do anything until then.
func (s Serve) GateWarnings() []string {
	return gateWarnings(gatesAt(lifecycle.Gates, s.Release()), s.FeatureGates, s.Release())
}

func gateWarnings(known []Gate, settings []string, now lifecycle.Release) (out []string) {
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		g := gateOf(known, name)
		switch {
		case g == nil:
			out = append(out, otherWarnings(name, value)...)
		case g.Stage == stable:
			out = append(out, fmt.Sprintf("Setting GA feature gate %s=%s. It will be removed in a future release. It is not operational: the feature is on.", name, value))
		case g.life.Deprecated.Reached(now):
			out = append(out, fmt.Sprintf("Setting deprecated feature gate %s=%s. It will be removed in a future release. It is still operational.%s", name, value, instead(g.life.Replacement)))
		}
	}
	return out
}

// otherWarnings are those about a gate of kube-apiserver's that is none here.
func otherWarnings(name, value string) []string {
	on, err := strconv.ParseBool(value)
	if other, ok := lifecycle.OtherGates()[name]; err == nil && ok && on != other.On {
		return []string{fmt.Sprintf("Feature gate %s=%s does nothing here: kube-apiserver has it %s by default, and there is nothing to set.", name, value, map[bool]string{true: "on", false: "off"}[other.On])}
	}
	return nil
}

func instead(replacement string) string {
	if replacement == "" {
		return ""
	}
	return " Use " + replacement + "."
}

// GateUsage lists the gates, for --help.
func GateUsage() string {
	return gateUsage(gatesAt(lifecycle.Gates, lifecycle.Current), lifecycle.Current)
}

func gateUsage(known []Gate, now lifecycle.Release) string {
	var lines []string
	for name, stage := range wholeStages {
		lines = append(lines, fmt.Sprintf("%s=true|false (%s - default=false)", name, stage))
	}
	for _, g := range known {
		switch {
		case g.Stage == stable:
			lines = append(lines, g.Name+"=true (GA - DEPRECATED: not operational)")
		case g.life.Deprecated.Reached(now):
			lines = append(lines, fmt.Sprintf("%s=true|false (%s - default=%t - DEPRECATED: still operational.%s)", g.Name, g.Stage, g.On, instead(g.life.Replacement)))
		default:
			lines = append(lines, fmt.Sprintf("%s=true|false (%s - default=%t)", g.Name, g.Stage, g.On))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func gateOf(known []Gate, name string) *Gate {
	i := slices.IndexFunc(known, func(g Gate) bool { return g.Name == name })
	if i < 0 {
		return nil
	}
	return &known[i]
}

// gateError says what is wrong with a setting of a feature gate.
func gateError(known []Gate, setting string, now lifecycle.Release) error {
	name, value, _ := strings.Cut(setting, "=")
	g := gateOf(known, name)
	other, elsewhere := lifecycle.OtherGates()[name]
	if _, whole := wholeStages[name]; g == nil && !whole && !elsewhere {
		return fmt.Errorf("unrecognized feature gate: %s", name)
	}
	on, err := strconv.ParseBool(value)
	if err != nil {
		return fmt.Errorf("%s must be true or false, got %q", name, value)
	}
	if elsewhere && other.Locked && on != other.On && now == lifecycle.Current {
		return fmt.Errorf("cannot set feature gate %s to %t, feature is locked to %t", name, on, other.On)
	}
	if g != nil && g.Stage == stable && !on {
		return fmt.Errorf("cannot set feature gate %s to %t, feature is locked to %t", name, on, g.On)
	}
	return nil
}
