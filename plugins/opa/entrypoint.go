package opa

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/excerpt"
)

// Kind is what an entrypoint is about, as its name says.
type Kind string

// The kinds of entrypoints.
const (
	// Main is an AdmissionReview with a response.
	Main Kind = "main"
	// Deny and Violation are messages for which a request is refused.
	Deny      Kind = "deny"
	Violation Kind = "violation"
	// Warn are messages that the client is shown.
	Warn Kind = "warn"
)

// mainName is the one entrypoint that is a whole review.
const mainName = "system/main"

// Entrypoint is a rule that is evaluated.
type Entrypoint struct {
	Kind Kind
	Name string
	ID   int32
}

// maxEntrypoints is how many are evaluated for a request.
const maxEntrypoints = 20

// Entrypoints are those of a policy that are evaluated for a request: its main one
// alone, if it has that, or else all of the other kinds. The text is what the policy
// says of them.
func Entrypoints(text []byte) (all []Entrypoint, err error) {
	var said map[string]int32
	if err := json.Unmarshal(text, &said); err != nil {
		return nil, fmt.Errorf("what it says of its entrypoints cannot be read: %w", err)
	}
	if id, ok := said[mainName]; ok {
		return []Entrypoint{{Main, mainName, id}}, nil
	}
	names := slices.Sorted(maps.Keys(said))
	for _, name := range names {
		last := name[strings.LastIndexByte(name, '/')+1:]
		if kind := Kind(last); kind == Deny || kind == Violation || kind == Warn {
			all = append(all, Entrypoint{kind, name, said[name]})
		}
	}
	switch {
	case len(all) > maxEntrypoints:
		return nil, fmt.Errorf("it has %d entrypoints that would be evaluated, more than %d", len(all), maxEntrypoints)
	case len(all) == 0:
		return nil, fmt.Errorf("none of its entrypoints is understood (%s): one has to be %s, or to end with /%s, /%s or /%s",
			excerpt.Of(strings.Join(names, ", "), 200), mainName, Deny, Violation, Warn)
	}
	return all, nil
}

// Data is the document data of a policy, which a configuration is: none is empty.
func Data(config []byte) ([]byte, error) {
	config = bytes.TrimSpace(config)
	if len(config) == 0 {
		return []byte("{}"), nil
	}
	if config[0] != '{' {
		return nil, errors.New("its configuration is its document data, and has to be an object")
	}
	return config, nil
}

// Input is what an entrypoint is asked with: the review, but violations as Gatekeeper
// has them, with the configuration as parameters.
func Input(kind Kind, review, config []byte) ([]byte, error) {
	var r struct {
		Request json.RawMessage `json:"request"`
	}
	if err := json.Unmarshal(review, &r); err != nil {
		return nil, fmt.Errorf("the review cannot be read: %w", err)
	}
	if len(r.Request) == 0 || r.Request[0] != '{' {
		return nil, errors.New("the review has no request")
	}
	if kind != Violation {
		return review, nil
	}
	parameters, err := Data(config)
	if err != nil {
		return nil, err
	}
	out := append(append([]byte(`{"review":`), r.Request...), `,"parameters":`...)
	return append(append(out, parameters...), '}'), nil
}
