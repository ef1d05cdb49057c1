package offline

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/draft/project"
	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/conversion/rules"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/custom"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// The bounds of the samples of one version.
const (
	maxSamples = 2
	maxTried   = 48
)

// samplesOf makes samples of each version, and what they are at the others, by the rules
// of the project. Only those are taken of which nothing is lost; the rest is what a proof
// tells.
func samplesOf(ctx context.Context, c *apiextensionsv1.CustomResourceDefinition, p project.Project) (files []workbench.File, err error) {
	d, err := custom.Compile(c)
	if err != nil {
		return nil, err
	}
	var spec rules.Spec
	for _, one := range p.Drafts {
		all := one.Rules()
		if p.Language != project.Rules { // what a module has no step for is not done
			all.Rules = slices.DeleteFunc(all.Rules, func(r rules.Rule) bool { return !project.HasStep(r) })
		}
		spec.Conversions = append(spec.Conversions, all)
	}
	compiled, errs := rules.Compile(spec)
	if len(errs) > 0 {
		return nil, fmt.Errorf("the rules that were drafted: %w", errs.ToAggregate())
	}
	r := &running{Converter: conversion.Batched(compiled.Converter(c.Name), conversion.Batch{})}
	for _, v := range d.Versions {
		chosen, err := r.choose(ctx, d, v.Name)
		if err != nil {
			return nil, err
		}
		for i, obj := range chosen {
			name := fmt.Sprintf("%s-%s-%d", d.Singular, v.Name, i+1)
			files = append(files, workbench.File{Name: "samples/" + name + ".yaml", Content: obj.text})
			for _, m := range obj.made {
				text, err := sigsyaml.JSONToYAML(m.Object)
				if err != nil {
					return nil, err
				}
				files = append(files, workbench.File{Name: "golden/" + name + "." + m.To + ".yaml", Content: text})
			}
		}
	}
	return files, nil
}

// chosen is a sample with what it is at other versions.
type chosen struct {
	text []byte
	made []workbench.Made
}

// choose takes the first objects of a version that come back as they were.
func (r *running) choose(ctx context.Context, d *crd.Definition, version string) (all []chosen, err error) {
	made, err := proof.Samples(d, version, 1)
	if err != nil {
		return nil, err
	}
	tried, known := 0, map[string]bool{}
	for obj := range made {
		if tried++; tried > maxTried || len(all) == maxSamples {
			break
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if obj == nil {
			continue
		}
		object.Ensure(obj, "metadata")["name"] = d.Singular
		data, err := object.Encode(obj)
		if err != nil {
			return nil, err
		}
		if known[string(data)] {
			continue
		}
		known[string(data)] = true
		s := r.sample(ctx, d, data, nil)
		if s.Problem != "" || len(s.Losses) > 0 || !madeAll(s) {
			continue
		}
		text, err := sigsyaml.JSONToYAML(data)
		if err != nil {
			return nil, err
		}
		all = append(all, chosen{text, s.Made})
	}
	return all, nil
}

func madeAll(s workbench.Sample) bool {
	for _, m := range s.Made {
		if m.Problem != "" {
			return false
		}
	}
	return true
}
