package crd

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Strategy is what a kind adds to the writes of its objects, of the whole or through
// a subresource: what Kubernetes' own registries know as strategies. old is the state
// before the write, nil for a new object; it is only read. Strategies are safe for
// concurrent use.
type Strategy interface {
	// Prepare sets what is not the client's to say, and restores what the write
	// may not change.
	Prepare(ctx context.Context, obj, old *unstructured.Unstructured)
	// Validate says what is wrong with a prepared object, or else what its client is
	// warned of.
	Validate(ctx context.Context, obj, old *unstructured.Unstructured) Verdict
	// Canonicalize gives a valid object its canonical form.
	Canonicalize(obj *unstructured.Unstructured)
	// Resets are the fields that the write owns nothing of, by apiVersion; nil for
	// none.
	Resets() map[fieldpath.APIVersion]*fieldpath.Set
}

// Verdict is what validation says of an object.
type Verdict struct {
	// Errors are what is wrong with it.
	Errors field.ErrorList
	// Warnings are what the client of a valid one is told.
	Warnings []string
	// Unfinished is how many of the Errors only say that the time was over before all
	// was judged.
	Unfinished int
}

// Subresource is a part of an object with a path of its own.
type Subresource struct {
	// Name is the last path segment: "status", "finalize", "scale".
	Name string
	// Update prepares and validates a write through the subresource. It has to
	// restore from old everything that the subresource may not change.
	Update Strategy
	// Verbs are the verbs served, of get, update and patch.
	Verbs []string
	// Kind, when its Kind is set, is the kind of the subresource's body; else
	// the body is the object itself.
	Kind schema.GroupVersionKind
	// Body is that kind, with one version, where its objects have metadata; nil
	// else, and where the body is the object itself or its Scale.
	Body *Definition
	// Scale maps the object to and from autoscaling/v1 Scale; only for "scale".
	Scale *Scale
}

// Scale holds the JSON paths of the scale subresource, in the simple dotted
// form that CustomResourceDefinitions use (".spec.replicas").
type Scale struct {
	SpecReplicasPath   string
	StatusReplicasPath string
	LabelSelectorPath  string
	// ValidateMetadata says what is wrong with the metadata of a Scale, of which
	// nothing is kept. Without it nothing is.
	ValidateMetadata func(*metav1.ObjectMeta) field.ErrorList
}
