package plugins

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Description is what a module says about itself ([ExportDescribe]). Members
// that are not known here are for later gateways.
type Description struct {
	// Hooks are the hooks that the module has, of those that it exports: what
	// is linked into every module exports more than one of them uses. Nil
	// means all that it exports.
	Hooks []Hook `json:"hooks"`
	// ConfigSchema is the JSON schema that the module's configuration has to
	// match, nil for any.
	ConfigSchema json.RawMessage `json:"configSchema"`
	// Conversions are what the hook [Convert] converts; nil when the module does
	// not say.
	Conversions []Conversion `json:"conversions"`
}

// maxConversions and maxName bound what a description says of conversions.
const maxConversions, maxName = 1000, 63

// ParseDescription reads a description; none is the zero value. The error is a
// *LoadError without the module's name.
func ParseDescription(data []byte) (d Description, err error) {
	if len(data) == 0 {
		return d, nil
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return Description{}, &LoadError{Reason: BadDescription, Detail: "its description cannot be read: " + err.Error(), Cause: err}
	}
	if string(d.ConfigSchema) == "null" {
		d.ConfigSchema = nil
	}
	for _, c := range d.Conversions {
		if len(d.Conversions) > maxConversions || c.From == "" || c.To == "" || max(len(c.Kind), len(c.From), len(c.To)) > maxName {
			return Description{}, &LoadError{Reason: BadDescription, Detail: fmt.Sprintf("its description names %d conversions, of %d at most, each from and to a version, of %d bytes at most", len(d.Conversions), maxConversions, maxName)}
		}
	}
	return d, nil
}

// HooksOf are the hooks of a module that exports those. A module that has none,
// or says that it has one that it does not export, is refused with a *LoadError.
func (d Description) HooksOf(exported []Hook) ([]Hook, error) {
	if d.Hooks == nil {
		return exported, nil
	}
	var has []Hook
	for _, h := range Hooks() {
		switch {
		case !slices.Contains(d.Hooks, h):
		case !slices.Contains(exported, h):
			return nil, &LoadError{Reason: BadDescription, Detail: fmt.Sprintf("its description names the hook %q, which it does not export", h)}
		default:
			has = append(has, h)
		}
	}
	if len(has) == 0 {
		return nil, &LoadError{Reason: BadDescription, Detail: fmt.Sprintf("it has no hook: it exports %s, but its description names none of them (with the Go SDK: no function was registered)", list(exported))}
	}
	return has, nil
}

func list(hooks []Hook) string {
	names := make([]string, len(hooks))
	for i, h := range hooks {
		names[i] = string(h)
	}
	return strings.Join(names, ", ")
}
