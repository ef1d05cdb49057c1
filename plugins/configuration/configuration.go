// Package configuration owns the check of a module's configuration by the schema
// that the module declares.
//
// Both come from whoever writes modules, so both are bounded. The package must
// not know modules.
package configuration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// The bounds of what is looked at. What a check costs is in the worst case the
// product of schema and configuration.
const (
	MaxSchemaBytes = 32 << 10
	MaxConfigBytes = 64 << 10
	// MaxDepth is how many objects and arrays may be inside of each other.
	MaxDepth = 64
)

// maxProblems is how many of the things that are wrong are told.
const maxProblems = 10

// ErrSchema means that the schema is to blame, and not the configuration.
var ErrSchema = errors.New("the schema of its configuration cannot be used")

// Check tells whether config is JSON that schema, a JSON schema as
// CustomResourceDefinitions have them, allows. The error names all that is
// wrong, by path.
func Check(schema, config []byte) (err error) {
	defer func() {
		if p := recover(); p != nil { // of a schema with references, for one
			err = fmt.Errorf("%w: %v", ErrSchema, p)
		}
	}()
	if err := bounded(schema, MaxSchemaBytes); err != nil {
		return fmt.Errorf("%w: %w", ErrSchema, err)
	}
	var s spec.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return fmt.Errorf("%w: %w", ErrSchema, err)
	}
	if quadratic(&s) {
		return fmt.Errorf("%w: uniqueItems cannot be true, as comparing every item with every other takes too long", ErrSchema)
	}
	if err := bounded(config, MaxConfigBytes); err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(config, &value); err != nil {
		return err
	}
	result := validate.NewSchemaValidator(&s, nil, "config", strfmt.Default).Validate(value)
	var problems []string
	for i, e := range result.Errors {
		if i == maxProblems {
			problems = append(problems, fmt.Sprintf("and %d more", len(result.Errors)-i))
			break
		}
		problems = append(problems, e.Error())
	}
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "; "))
	}
	return nil
}

// quadratic tells whether a schema wants lists compared item by item, which
// CustomResourceDefinitions may not want either.
func quadratic(s *spec.Schema) bool {
	if s == nil {
		return false
	}
	if s.UniqueItems {
		return true
	}
	below := slices.Concat(s.AllOf, s.AnyOf, s.OneOf)
	for _, by := range []map[string]spec.Schema{s.Properties, s.PatternProperties, s.Definitions} {
		below = slices.AppendSeq(below, maps.Values(by))
	}
	one := []*spec.Schema{s.Not}
	for _, or := range []*spec.SchemaOrBool{s.AdditionalProperties, s.AdditionalItems} {
		if or != nil {
			one = append(one, or.Schema)
		}
	}
	for _, d := range s.Dependencies {
		one = append(one, d.Schema)
	}
	if s.Items != nil {
		one, below = append(one, s.Items.Schema), append(below, s.Items.Schemas...)
	}
	for i := range below {
		one = append(one, &below[i])
	}
	return slices.ContainsFunc(one, quadratic)
}

// bounded refuses text that is longer or deeper than is looked at.
func bounded(text []byte, most int) error {
	if len(text) > most {
		return fmt.Errorf("it has %d bytes, more than %d", len(text), most)
	}
	depth := 0
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > MaxDepth {
				return fmt.Errorf("it is deeper than %d", MaxDepth)
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}
