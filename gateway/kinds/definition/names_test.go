package definition

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestGaveUpNames(t *testing.T) {
	before := apiextensionsv1.CustomResourceDefinitionNames{Plural: "tabs", Singular: "tab", Kind: "Tab", ListKind: "TabList", ShortNames: []string{"t", "u"}}
	for name, c := range map[string]struct {
		change func(n *apiextensionsv1.CustomResourceDefinitionNames)
		want   bool
	}{
		"nothing":             {func(*apiextensionsv1.CustomResourceDefinitionNames) {}, false},
		"one more":            {func(n *apiextensionsv1.CustomResourceDefinitionNames) { n.ShortNames = []string{"t", "u", "v"} }, false},
		"a short name":        {func(n *apiextensionsv1.CustomResourceDefinitionNames) { n.ShortNames = []string{"t"} }, true},
		"the kind":            {func(n *apiextensionsv1.CustomResourceDefinitionNames) { n.Kind = "Other" }, true},
		"the list kind":       {func(n *apiextensionsv1.CustomResourceDefinitionNames) { n.ListKind = "Other" }, true},
		"the singular":        {func(n *apiextensionsv1.CustomResourceDefinitionNames) { n.Singular = "other" }, true},
		"a kind for a plural": {func(n *apiextensionsv1.CustomResourceDefinitionNames) { n.Kind, n.Singular = "tab", "Tab" }, true},
		"swapped names": {func(n *apiextensionsv1.CustomResourceDefinitionNames) {
			n.Singular, n.ShortNames = "t", []string{"tab", "u"}
		}, false},
		"all": {func(n *apiextensionsv1.CustomResourceDefinitionNames) {
			*n = apiextensionsv1.CustomResourceDefinitionNames{}
		}, true},
	} {
		after := before
		c.change(&after)
		if got := gaveUpNames(before, after); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
