package retire

import (
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/version"
)

// choose says which versions go and which one is stored in the end.
func (m *making) choose() error {
	names := map[string]bool{}
	for _, v := range m.crd.Spec.Versions {
		names[v.Name] = true
		if v.Storage {
			m.storage = v.Name
		}
	}
	for _, name := range m.Versions {
		if !names[name] {
			return fmt.Errorf("it has no version %q", name)
		}
	}
	for _, v := range m.crd.Spec.Versions {
		switch {
		case m.goes(v):
			m.given = append(m.given, v.Name)
		case v.Served:
			m.left = append(m.left, v.Name)
		}
	}
	m.plan.Target, m.offered = m.storage, m.storage
	moves := slices.Contains(m.given, m.storage)
	if len(m.left) == 0 {
		if moves || len(m.Versions) > 0 && slices.ContainsFunc(m.given, m.served) {
			return errors.New("no version would be left that is served")
		}
		return nil
	}
	if !m.served(m.storage) || moves {
		m.offered = slices.MaxFunc(m.left, version.CompareKubeAwareVersionStrings)
	}
	if moves {
		m.plan.Target = m.offered
	}
	return nil
}

func (m *making) goes(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
	switch {
	case len(m.Versions) > 0:
		return slices.Contains(m.Versions, v.Name)
	case v.Name != m.storage:
		return v.Deprecated || version.CompareKubeAwareVersionStrings(v.Name, m.storage) < 0
	}
	return v.Deprecated && slices.ContainsFunc(m.crd.Spec.Versions, func(by apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return by.Served && !by.Deprecated && version.CompareKubeAwareVersionStrings(by.Name, m.storage) > 0 // which stays
	})
}
