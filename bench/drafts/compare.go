package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/conversion/draft"
	"github.com/wasmgate/wasmgate/conversion/rules"
)

// comparison is that of a pair of versions.
type comparison struct {
	ctx            context.Context
	oracle         *oracle
	pair           int
	root           *node
	to             *schema
	apiVersion     string
	wanted, object string
	rules          *rules.Rules
}

// compare drafts a conversion, and has the same objects converted by both.
func (v versions) compare(ctx context.Context, o *oracle, pair int, file string) (report, error) {
	c, err := definition(file)
	if err != nil {
		return report{}, err
	}
	var from, to *schema
	for _, one := range c.Spec.Versions {
		if one.Schema == nil {
			continue
		}
		switch one.Name {
		case v.From:
			from = one.Schema.OpenAPIV3Schema
		case v.To:
			to = one.Schema.OpenAPIV3Schema
		}
	}
	if from == nil || to == nil {
		return report{}, errors.New("the definition has no schemas of both versions")
	}
	d := draft.Between(draft.Version{Name: v.From, Schema: from}, draft.Version{Name: v.To, Schema: to})
	compiled, errs := rules.Compile(rules.Spec{Conversions: []rules.Conversion{d.Rules()}})
	if len(errs) > 0 {
		return report{}, errs.ToAggregate()
	}
	w := &comparison{ctx: ctx, oracle: o, pair: pair, root: &node{s: from}, to: to, rules: compiled,
		apiVersion: c.Spec.Group + "/" + v.From, wanted: c.Spec.Group + "/" + v.To, object: c.Spec.Names.Kind}
	var leaves []*node
	plant(w.root, 0, &leaves)
	var r report
	all, err := w.leaves(leaves, &r)
	if err != nil {
		return report{}, err
	}
	r.fields = judge(w.root, w.to, all, d.Ops)
	r.count()
	return r, nil
}

var template = regexp.MustCompile(`{{[^}]*}}`)

// definition reads the CustomResourceDefinition in a file, which may be a template.
func definition(file string) (c apiextensionsv1.CustomResourceDefinition, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return c, err
	}
	return c, yaml.Unmarshal(template.ReplaceAll(text, []byte("x")), &c)
}

// leaves finds out where all leaves go that the type of the old version has.
func (c *comparison) leaves(leaves []*node, r *report) (all []*seen, err error) {
	choice := map[*node][][]any{}
	for i, l := range leaves {
		for _, values := range choices(l, i) {
			one, err := c.reads(l, values[0])
			if err != nil {
				return nil, err
			}
			other, err := c.reads(l, values[1])
			if err != nil {
				return nil, err
			}
			if one != "" && one != other {
				choice[l] = append(choice[l], values)
			}
		}
		if len(choice[l]) > 0 {
			l.variants = choice[l][0]
		}
	}
	for _, l := range leaves {
		if len(choice[l]) == 0 {
			continue
		}
		s, err := c.follow(l, choice[l])
		if err != nil {
			return nil, err
		}
		if s == nil {
			r.refused++
			continue
		}
		all = append(all, s)
	}
	return all, nil
}

// reads is what the type of the old version reads of a leaf's value, "" for nothing.
func (c *comparison) reads(l *node, value any) (string, error) {
	a, err := c.ask(only(l, value))
	if err != nil || a.Was == nil {
		return "", err
	}
	at, err := flatten(a.Was, c.root.s)
	return at[l.path], err
}

// follow finds out where a leaf goes: in an object with little else, and if it goes
// nowhere there, in one with everything. It is nil where objects with it are refused.
func (c *comparison) follow(l *node, choice [][]any) (found *seen, err error) {
	for _, with := range []func(*node, any) func(*node) any{sparse, full} {
		for _, values := range choice {
			s, err := c.try(l, values, with)
			if err != nil {
				return nil, err
			}
			if s == nil {
				continue
			}
			if found = s; len(s.theirs) > 0 {
				return found, nil
			}
			break
		}
	}
	return found, nil
}

// try is nil if the converters refuse the objects.
func (c *comparison) try(l *node, values []any, with func(*node, any) func(*node) any) (*seen, error) {
	s := &seen{leaf: l}
	var theirs, ours []map[string]string
	refused := false
	for _, value := range values {
		a, err := c.ask(with(l, value))
		if err != nil || a.Error != "" {
			return nil, err
		}
		was, err := flatten(a.Was, c.root.s)
		if err != nil {
			return nil, err
		}
		s.values = append(s.values, was[l.path])
		is, err := flatten(a.Is, c.to)
		if err != nil {
			return nil, err
		}
		theirs = append(theirs, is)
		out, err := c.rules.Convert(c.ctx, c.wanted, [][]byte{a.Was})
		if err != nil {
			refused = true
			continue
		}
		if is, err = flatten(out[0], c.to); err != nil {
			return nil, err
		}
		ours = append(ours, is)
	}
	s.theirs = between(theirs)
	if s.ours = between(ours); refused {
		s.ours = effect{"an error": nil}
	}
	return s, nil
}

// ask has the converters make the new version of an object.
func (c *comparison) ask(take func(*node) any) (answer, error) {
	o, _ := c.root.object(take).(map[string]any)
	if o == nil {
		o = map[string]any{}
	}
	o["apiVersion"], o["kind"], o["metadata"] = c.apiVersion, c.object, map[string]any{"name": "one", "namespace": "some"}
	text, err := json.Marshal(o)
	if err != nil {
		return answer{}, err
	}
	a, err := c.oracle.ask(c.pair, text)
	if err != nil {
		return a, fmt.Errorf("the converters stopped at %s: %w", strings.TrimSpace(string(text)), err)
	}
	return a, nil
}
