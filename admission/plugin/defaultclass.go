package plugin

import (
	"cmp"
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/object"
)

// withClass are objects that have a class, by its name in a field of their spec or
// in an annotation, which counts even if it is empty.
type withClass struct {
	kind              schema.GroupResource
	field, annotation string
	classes           schema.GroupResource
	// marks are the annotations of a class that make it the default.
	marks []string
}

var (
	volumeClaims = withClass{
		kind: schema.GroupResource{Resource: "persistentvolumeclaims"}, field: "storageClassName", annotation: "volume.beta.kubernetes.io/storage-class",
		classes: schema.GroupResource{Group: "storage.k8s.io", Resource: "storageclasses"},
		marks:   []string{"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"},
	}
	ingresses = withClass{
		kind: schema.GroupResource{Group: "networking.k8s.io", Resource: "ingresses"}, field: "ingressClassName", annotation: "kubernetes.io/ingress.class",
		classes: schema.GroupResource{Group: "networking.k8s.io", Resource: "ingressclasses"},
		marks:   []string{"ingressclass.kubernetes.io/is-default-class"},
	}
)

// DefaultStorageClass gives a new claim that names no class the default one.
type DefaultStorageClass struct{ Classes Reader }

// Name implements [admission.Plugin].
func (DefaultStorageClass) Name() string { return order.DefaultStorageClass }

// Edits implements [admission.Editor].
func (DefaultStorageClass) Edits(o admission.Operation, gr schema.GroupResource, subresource string) bool {
	return volumeClaims.made(o, gr, subresource)
}

// Edit implements [admission.Editor].
func (p DefaultStorageClass) Edit(ctx context.Context, a admission.Attributes, tree map[string]any) (changed bool, err error) {
	return volumeClaims.complete(ctx, p.Classes, a, tree)
}

// DefaultIngressClass gives a new Ingress that names no class the default one.
type DefaultIngressClass struct{ Classes Reader }

// Name implements [admission.Plugin].
func (DefaultIngressClass) Name() string { return order.DefaultIngressClass }

// Edits implements [admission.Editor].
func (DefaultIngressClass) Edits(o admission.Operation, gr schema.GroupResource, subresource string) bool {
	return ingresses.made(o, gr, subresource)
}

// Edit implements [admission.Editor].
func (p DefaultIngressClass) Edit(ctx context.Context, a admission.Attributes, tree map[string]any) (changed bool, err error) {
	return ingresses.complete(ctx, p.Classes, a, tree)
}

func (c withClass) made(o admission.Operation, gr schema.GroupResource, subresource string) bool {
	return o == admission.Create && gr == c.kind && subresource == ""
}

// complete names the default class in an object that names none. A class that was
// marked a moment ago counts.
func (c withClass) complete(ctx context.Context, classes Reader, a admission.Attributes, tree map[string]any) (changed bool, err error) {
	spec := object.Child(tree, "spec")
	if c.classOf(tree) != nil || spec == nil {
		return false, nil
	}
	if err := classes.Fresh(ctx); err != nil {
		return false, err
	}
	all, err := classes.List(ctx, c.classes, "")
	if apierrors.IsNotFound(err) {
		return false, nil // such classes are not served
	} else if err != nil {
		return false, apierrors.NewForbidden(c.kind, admission.NameOf(a), err)
	}
	all = slices.DeleteFunc(all, func(class *unstructured.Unstructured) bool {
		has := class.GetAnnotations()
		return !slices.ContainsFunc(c.marks, func(mark string) bool { return has[mark] == "true" })
	})
	if len(all) == 0 {
		return false, nil
	}
	spec[c.field] = slices.MinFunc(all, newest).GetName()
	return true, nil
}

// classOf is the class that an object names, nil for none.
func (c withClass) classOf(tree map[string]any) any {
	annotations := object.Child(object.Child(tree, "metadata"), "annotations")
	if name, ok := annotations[c.annotation]; ok {
		return name
	}
	return object.Child(tree, "spec")[c.field]
}

// newest puts what was created last first; of what was created in the same second the
// names decide.
func newest(a, b *unstructured.Unstructured) int {
	return cmp.Or(b.GetCreationTimestamp().Compare(a.GetCreationTimestamp().Time), cmp.Compare(a.GetName(), b.GetName()))
}
