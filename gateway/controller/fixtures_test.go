package controller_test

import (
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
)

var (
	crontabs       = schema.GroupResource{Group: "example.com", Resource: "crontabs"}
	servedCrontabs = controller.ServedResource{GroupResource: crontabs, Version: "v1", Kind: "CronTab", Namespaced: true}
)

// crdTree is a definition whose last version is the storage version.
func crdTree(plural, kind string, versions ...string) map[string]any {
	var list []any
	for i, v := range versions {
		list = append(list, map[string]any{"name": v, "served": true, "storage": i == len(versions)-1})
	}
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": plural + ".example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced", "versions": list,
			"names": map[string]any{"plural": plural, "kind": kind, "listKind": kind + "List", "singular": plural},
		},
	}
}

// establish gives a definition the status of one that is served.
func establish(t *testing.T, o *controllertest.Objects, name string, stored ...any) {
	t.Helper()
	controllertest.MustChange(t, o, controller.CRDResource, "status", "", name, func(obj *unstructured.Unstructured) {
		names, _, _ := unstructured.NestedMap(obj.Object, "spec", "names")
		obj.Object["status"] = map[string]any{
			"storedVersions": stored, "acceptedNames": names,
			"conditions": []any{
				map[string]any{"type": "NamesAccepted", "status": "True", "reason": "NoConflicts", "message": "no conflicts found"},
				map[string]any{"type": "Established", "status": "True", "reason": "InitialNamesAccepted", "message": "accepted"},
			},
		}
	})
}

func namespaceTree(name string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}
}

func objectTree(namespace, name string, finalizers ...any) map[string]any {
	metadata := map[string]any{"name": name, "namespace": namespace}
	if len(finalizers) > 0 {
		metadata["finalizers"] = finalizers
	}
	return map[string]any{"apiVersion": "v1", "kind": "Thing", "metadata": metadata}
}

func removeFinalizer(t *testing.T, o *controllertest.Objects, gr schema.GroupResource, namespace, name, finalizer string) {
	t.Helper()
	controllertest.MustChange(t, o, gr, "", namespace, name, func(obj *unstructured.Unstructured) {
		obj.SetFinalizers(slices.DeleteFunc(obj.GetFinalizers(), func(f string) bool { return f == finalizer }))
	})
}

// firstComeFirstServed accepts a definition whose kind nobody of the group has.
func firstComeFirstServed(c *apiextensionsv1.CustomResourceDefinition, group []*apiextensionsv1.CustomResourceDefinition,
	now metav1.Time) (apiextensionsv1.CustomResourceDefinitionStatus, bool) {
	status := *c.Status.DeepCopy()
	taken := slices.ContainsFunc(group, func(other *apiextensionsv1.CustomResourceDefinition) bool {
		return other.Status.AcceptedNames.Kind == c.Spec.Names.Kind
	})
	want := apiextensionsv1.ConditionTrue
	if taken {
		want = apiextensionsv1.ConditionFalse
	} else {
		status.AcceptedNames = c.Spec.Names
	}
	if len(status.Conditions) == 1 && status.Conditions[0].Status == want && status.AcceptedNames.Kind == c.Status.AcceptedNames.Kind {
		return status, false
	}
	status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{
		Type: apiextensionsv1.NamesAccepted, Status: want, Reason: "Test", LastTransitionTime: now,
	}}
	return status, true
}
