package offline

import (
	"errors"
	"fmt"
	"path/filepath"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/rules"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/plugins"
)

// maxRulesFile is the size of the largest file that is looked at for rules.
const maxRulesFile = 4 << 20

// readRules compiles a file with ConversionRules, YAML or JSON, in the place of a
// module; nil means that the file has something else, of a name that says no more.
func readRules(m workbench.Module) (*running, error) {
	if len(m.Content) > maxRulesFile {
		return nil, nil
	}
	data, err := sigsyaml.YAMLToJSONStrict(m.Content)
	kind := ""
	if err == nil {
		kind, _ = object.String(object.Field(data, "kind"))
	}
	if kind != RulesKind {
		switch filepath.Ext(m.Name) {
		case ".yaml", ".yml", ".json":
			if err == nil {
				err = fmt.Errorf("it has a %q, neither %s nor a module", kind, RulesKind)
			}
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		return nil, nil
	}
	r, err := Rules(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	return &running{
		Status:    plugins.Status{Hooks: []plugins.Hook{plugins.Convert}},
		Converter: conversion.Batched(r.Converter(m.Name), conversion.Batch{}), close: func() {},
		acknowledged: r.Acknowledged(),
	}, nil
}

// RulesKind is the kind of rules in files.
const RulesKind = "ConversionRules"

// Rules compiles the JSON of an object of that kind, to check it.
func Rules(data []byte) (*rules.Rules, error) {
	r, doubts, err := ServedRules(data)
	if err = errors.Join(err, doubts); err != nil {
		return nil, err
	}
	return r, nil
}

// ServedRules compiles the JSON of an object of that kind, to convert by it: doubts are what
// is wrong with rules that convert nevertheless.
func ServedRules(data []byte) (r *rules.Rules, doubts, err error) {
	spec, err := rules.Decode(object.Field(data, "spec"))
	if err != nil {
		return nil, nil, err
	}
	r, doubted, errs := rules.CompileStored(spec)
	return r, excerpt.Errors(doubted), excerpt.Errors(errs)
}
