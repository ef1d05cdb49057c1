package definition

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// claimed is a set of names that are in use.
type claimed map[string]bool

func (c claimed) add(names ...string) {
	for _, n := range names {
		if n != "" {
			c[n] = true
		}
	}
}

// grant returns the name to use: the one asked for, or, when that is taken, the
// one that was accepted before.
func (c claimed) grant(asked, accepted string) (string, error) {
	if asked != accepted && c[asked] {
		return accepted, fmt.Errorf("%q is already in use", asked)
	}
	return asked, nil
}

// claims are the names that the definitions of c's group have accepted, c's own
// included: a resource's name may not be another's of the same definition.
func claims(c *apiextensionsv1.CustomResourceDefinition, sameGroup []*apiextensionsv1.CustomResourceDefinition) (resources, kinds claimed) {
	resources, kinds = claimed{}, claimed{}
	add := func(n apiextensionsv1.CustomResourceDefinitionNames) {
		resources.add(n.Plural, n.Singular)
		resources.add(n.ShortNames...)
		kinds.add(n.Kind, n.ListKind)
	}
	add(c.Status.AcceptedNames)
	for _, other := range sameGroup {
		if other.Name != c.Name && other.Spec.Group == c.Spec.Group {
			add(other.Status.AcceptedNames)
		}
	}
	return resources, kinds
}

// acceptNames gives c each name it asks for that nobody else has. The condition
// is about the last name that could not be had.
func acceptNames(c *apiextensionsv1.CustomResourceDefinition, sameGroup []*apiextensionsv1.CustomResourceDefinition) (apiextensionsv1.CustomResourceDefinitionNames, condition) {
	resources, kinds := claims(c, sameGroup)
	asked, old := c.Spec.Names, c.Status.AcceptedNames
	out := *old.DeepCopy()
	cond := condition{
		Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue,
		Reason: "NoConflicts", Message: "no conflicts found",
	}
	note := func(reason string, err error) {
		if err != nil {
			cond.Status, cond.Reason, cond.Message = apiextensionsv1.ConditionFalse, reason, err.Error()
		}
	}
	var err error
	out.Plural, err = resources.grant(asked.Plural, old.Plural)
	note("PluralConflict", err)
	out.Singular, err = resources.grant(asked.Singular, old.Singular)
	note("SingularConflict", err)
	out.ShortNames, err = resources.grantAll(asked.ShortNames, old.ShortNames)
	note("ShortNamesConflict", err)
	out.Kind, err = kinds.grant(asked.Kind, old.Kind)
	note("KindConflict", err)
	out.ListKind, err = kinds.grant(asked.ListKind, old.ListKind)
	note("ListKindConflict", err)
	out.Categories = slices.Clone(asked.Categories)
	return out, cond
}

// grantAll grants short names all together or not at all.
func (c claimed) grantAll(asked, accepted []string) ([]string, error) {
	if slices.Equal(asked, accepted) {
		return slices.Clone(accepted), nil
	}
	var errs []error
	for _, name := range asked {
		if slices.Contains(accepted, name) {
			continue
		}
		if _, err := c.grant(name, ""); err != nil {
			errs = append(errs, err)
		}
	}
	if err := utilerrors.NewAggregate(errs); err != nil {
		return slices.Clone(accepted), err
	}
	return slices.Clone(asked), nil
}
