package offline

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/conversion/draft"
	"github.com/wasmgate/wasmgate/conversion/draft/project"
	"github.com/wasmgate/wasmgate/conversion/rules"
	"github.com/wasmgate/wasmgate/crd/custom"
	"github.com/wasmgate/wasmgate/crd/version"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// starter is the definition of a project that is about nothing yet.
//
//go:embed starter.yaml
var starter []byte

// Languages implements [workbench.Authoring].
func (Tools) Languages() []string { return project.Languages }

// Draft implements [workbench.Authoring].
func (Tools) Draft(ctx context.Context, what workbench.Draft) (workbench.Drafted, error) {
	var out workbench.Drafted
	c, err := versionsOf(what)
	if err != nil {
		return out, err
	}
	if what.Name == "" {
		what.Name = c.Spec.Names.Plural
	}
	if err := checkName("name", what.Name, validation.IsDNS1123Subdomain); err != nil {
		return out, err
	}
	p := project.Project{Name: what.Name, Language: what.Language, Kind: c.Spec.Names.Kind, Definition: c.Name, SDK: what.SDK, Drafts: drafts(c)}
	url := p.URL()
	c.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook:  &apiextensionsv1.WebhookConversion{ConversionReviewVersions: []string{"v1"}, ClientConfig: &apiextensionsv1.WebhookClientConfig{URL: &url}},
	}
	if p.CRD, err = manifestOf(c); err != nil {
		return out, err
	}
	samples, err := samplesOf(ctx, c, p)
	if err != nil {
		return out, err
	}
	p.Samples = len(samples) > 0
	files, err := p.Files()
	if err != nil {
		return out, err
	}
	out = workbench.Drafted{Name: p.Name, Definition: p.Definition, Operations: operations(p.Drafts)}
	for _, f := range files {
		out.Files = append(out.Files, workbench.File(f))
	}
	out.Files = append(out.Files, samples...)
	return out, nil
}

// versionsOf is the definition with all versions that a project is about.
func versionsOf(what workbench.Draft) (*apiextensionsv1.CustomResourceDefinition, error) {
	if len(what.From) == 0 {
		if len(what.To) > 0 {
			return nil, errors.New("there is a new version and no old one: name its file, too")
		}
		what.From = starter
	}
	c, err := findDefinition(what.From)
	if err != nil {
		return nil, fmt.Errorf("the old version: %w", err)
	}
	if len(what.To) > 0 {
		next, err := findDefinition(what.To)
		if err != nil {
			return nil, fmt.Errorf("the new version: %w", err)
		}
		if c, err = joined(c, next); err != nil {
			return nil, err
		}
	}
	if err := checkNames(c); err != nil {
		return nil, err
	}
	if len(c.Spec.Versions) < 2 {
		return nil, fmt.Errorf("%s has one version, %s: give a file with the new one, too", c.Name, c.Spec.Versions[0].Name)
	}
	for _, v := range c.Spec.Versions {
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			return nil, fmt.Errorf("version %s of %s has no schema", v.Name, c.Name)
		}
	}
	if _, err := custom.Compile(c); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	return c, nil
}

// checkNames refuses names that no server takes: they are written into files as they are.
func checkNames(c *apiextensionsv1.CustomResourceDefinition) error {
	if err := checkName("name", c.Name, validation.IsDNS1123Subdomain); err != nil {
		return err
	}
	if err := checkName("plural", c.Spec.Names.Plural, validation.IsDNS1035Label); err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	if len(c.Spec.Versions) == 0 {
		return fmt.Errorf("%s has no versions", c.Name)
	}
	known := map[string]bool{}
	for _, v := range c.Spec.Versions {
		if err := checkName("name of the version", v.Name, validation.IsDNS1035Label); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		if known[v.Name] {
			return fmt.Errorf("%s has the version %s twice", c.Name, v.Name)
		}
		known[v.Name] = true
	}
	return nil
}

func checkName(what, name string, valid func(string) []string) error {
	if problems := valid(name); len(problems) > 0 {
		return fmt.Errorf("the %s %q is not valid: %s", what, name, strings.Join(problems, "; "))
	}
	return nil
}

// joined is a definition with the versions of the one that it replaces.
func joined(old, next *apiextensionsv1.CustomResourceDefinition) (*apiextensionsv1.CustomResourceDefinition, error) {
	if old.Spec.Group != next.Spec.Group || old.Spec.Names.Kind != next.Spec.Names.Kind {
		return nil, fmt.Errorf("%s in %s becomes %s in %s: objects are converted between the versions of one kind, so group and kind have to be the same",
			old.Spec.Names.Kind, old.Spec.Group, next.Spec.Names.Kind, next.Spec.Group)
	}
	out := next.DeepCopy()
	added := false
	for _, v := range old.Spec.Versions {
		if !slices.ContainsFunc(next.Spec.Versions, func(n apiextensionsv1.CustomResourceDefinitionVersion) bool { return n.Name == v.Name }) {
			v.Storage, added = false, true
			out.Spec.Versions = append(out.Spec.Versions, v)
		}
	}
	if !added {
		return nil, fmt.Errorf("both files have the same versions of %s: give the new one another name, as a version is not changed in place", next.Name)
	}
	return out, nil
}

// drafts are the conversions from each version to the next.
func drafts(c *apiextensionsv1.CustomResourceDefinition) []draft.Draft {
	var all []draft.Version
	versions := slices.Clone(c.Spec.Versions)
	slices.SortStableFunc(versions, func(a, b apiextensionsv1.CustomResourceDefinitionVersion) int {
		return version.Compare(b.Name, a.Name) // the oldest first
	})
	for _, v := range versions {
		all = append(all, draft.Version{Name: v.Name, Schema: v.Schema.OpenAPIV3Schema})
	}
	return draft.Chain(all...)
}

// manifestOf writes a definition as somebody would.
func manifestOf(c *apiextensionsv1.CustomResourceDefinition) ([]byte, error) {
	c.TypeMeta.APIVersion, c.TypeMeta.Kind = apiextensionsv1.SchemeGroupVersion.String(), "CustomResourceDefinition"
	data, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		return nil, err
	}
	delete(tree, "status")
	if meta, ok := tree["metadata"].(map[string]any); ok {
		for _, name := range []string{"creationTimestamp", "managedFields", "resourceVersion", "uid", "generation"} {
			delete(meta, name)
		}
	}
	return sigsyaml.Marshal(tree)
}

// operations tells of drafts.
func operations(drafts []draft.Draft) (all []workbench.Operation) {
	for _, d := range drafts {
		for _, op := range d.Ops {
			o := workbench.Operation{From: d.From, To: d.To, Field: op.At, Check: !op.Certain, Why: op.Why, Alternatives: op.Alternatives}
			if op.Rule != (rules.Rule{}) {
				if text, err := json.Marshal(op.Rule); err == nil {
					o.Rule = string(text)
				}
			}
			all = append(all, o)
		}
	}
	return all
}
