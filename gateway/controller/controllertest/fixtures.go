package controllertest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// CronTabsDefinition is the name of the definition of [CronTabs].
const CronTabsDefinition = "crontabs.example.com"

// CronTabs is a namespaced custom resource, and ServedCronTabs what serves it.
var (
	CronTabs       = schema.GroupResource{Group: "example.com", Resource: "crontabs"}
	ServedCronTabs = custom(CronTabs, "CronTab", true)
)

// CRDTree is a definition whose last version is the storage version.
func CRDTree(plural, kind string, versions ...string) map[string]any {
	var list []any
	for i, v := range versions {
		list = append(list, map[string]any{"name": v, "served": true, "storage": i == len(versions)-1,
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}})
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

// Establish gives a definition the status of one that is served.
func Establish(t *testing.T, o Engine, name string, stored ...any) {
	t.Helper()
	MustChange(t, o, gvr.Definitions, "status", "", name, func(obj *unstructured.Unstructured) {
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

// NamespaceTree is a namespace.
func NamespaceTree(name string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}
}

// ObjectTree is an object without apiVersion and kind, which [MustCreate] adds.
func ObjectTree(namespace, name string, finalizers ...any) map[string]any {
	metadata := map[string]any{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	if len(finalizers) > 0 {
		metadata["finalizers"] = finalizers
	}
	return map[string]any{"metadata": metadata}
}

// RemoveFinalizer removes one finalizer from an object.
func RemoveFinalizer(t *testing.T, o Engine, gr schema.GroupResource, namespace, name, finalizer string) {
	t.Helper()
	MustChange(t, o, gr, "", namespace, name, func(obj *unstructured.Unstructured) {
		obj.SetFinalizers(slices.DeleteFunc(obj.GetFinalizers(), func(f string) bool { return f == finalizer }))
	})
}

// WithCronTabs has the definition, a namespace and n objects in it.
func WithCronTabs(t *testing.T, n int) *Objects {
	t.Helper()
	o := New(ServedCronTabs)
	DefineCronTabs(t, o)
	for i := range n {
		MustCreate(t, o, CronTabs, ObjectTree("work", fmt.Sprintf("tab-%d", i)))
	}
	return o
}

// DefineCronTabs makes the definition of [CronTabs], stored at two versions,
// waits until it is served, and makes the namespace work.
func DefineCronTabs(t *testing.T, e Engine) {
	t.Helper()
	MustCreate(t, e, gvr.Definitions, CRDTree("crontabs", "CronTab", "v1beta1", "v1"))
	Establish(t, e, CronTabsDefinition, "v1beta1", "v1")
	Eventually(t, e, "CronTabs are served", func() bool {
		return slices.ContainsFunc(e.Served(), func(d *crd.Definition) bool { return d.GroupResource() == CronTabs })
	})
	MustCreate(t, e, gvr.Namespaces, NamespaceTree("work"))
}

// DeleteDefinition begins to delete the definition of [CronTabs].
func DeleteDefinition(t *testing.T, o Engine) {
	t.Helper()
	if err := o.Delete(context.Background(), gvr.Definitions, "", CronTabsDefinition, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// builtIn is as much of a definition of a built-in kind as controllers look at.
func builtIn(gr schema.GroupResource, kind string, namespaced bool) *crd.Definition {
	d := &crd.Definition{Group: gr.Group, Plural: gr.Resource, Kind: kind, Namespaced: namespaced, StorageVersion: "v1", KeyPrefix: gr.Resource}
	if gr == gvr.Definitions || gr == gvr.Modules || gr == gvr.Trusts {
		d.KeyPrefix = gr.Group + "/" + gr.Resource
	}
	return d
}

// custom is the same of a custom resource.
func custom(gr schema.GroupResource, kind string, namespaced bool) *crd.Definition {
	d := builtIn(gr, kind, namespaced)
	d.KeyPrefix, d.UID = gr.Group+"/"+gr.Resource, "defined"
	return d
}
