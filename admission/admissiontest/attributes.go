package admissiontest

import (
	"context"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/admission"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var _ admission.Attributes = &Attributes{}

// Attributes are a request that says of itself what its fields say.
type Attributes struct {
	*Objects
	Namespaces
	Operation       admission.Operation
	Resource        schema.GroupVersionResource
	Kind            schema.GroupVersionKind
	Subresource     string
	Versions        []string
	Groups          []string
	Namespace, Name string
	User            admission.User
	Options         runtime.Object
	DryRun, Own     bool
	Verb            string
	// Waits is told of what the request waited for; nil is not.
	Waits func(time.Duration)
	// Warned get the warnings.
	Warned *[]string
	// Annotated get the annotations; nil drops them.
	Annotated map[string]string
}

// GetResource returns Resource.
func (a *Attributes) GetResource() schema.GroupVersionResource { return a.Resource }

// GetKind returns Kind.
func (a *Attributes) GetKind() schema.GroupVersionKind { return a.Kind }

// GetSubresource returns Subresource.
func (a *Attributes) GetSubresource() string { return a.Subresource }

// GetVersions returns Versions.
func (a *Attributes) GetVersions() []string { return a.Versions }

// GetGroups returns Groups, or the group of the resource.
func (a *Attributes) GetGroups() []string {
	if a.Groups == nil {
		return []string{a.Resource.Group}
	}
	return a.Groups
}

// GetNamespace returns Namespace.
func (a *Attributes) GetNamespace() string { return a.Namespace }

// GetName returns Name.
func (a *Attributes) GetName() string { return a.Name }

// GetRequestName implements [admission.Named].
func (a *Attributes) GetRequestName() string { return a.Name }

// GetOperation returns Operation.
func (a *Attributes) GetOperation() admission.Operation { return a.Operation }

// GetOperationOptions returns Options.
func (a *Attributes) GetOperationOptions() runtime.Object { return a.Options }

// Waited calls Waits.
func (a *Attributes) Waited(d time.Duration) {
	if a.Waits != nil {
		a.Waits(d)
	}
}

// GetVerb returns Verb.
func (a *Attributes) GetVerb() string { return a.Verb }

// IsDryRun returns DryRun.
func (a *Attributes) IsDryRun() bool { return a.DryRun }

// GetUserInfo returns User.
func (a *Attributes) GetUserInfo() admission.User { return a.User }

// IsOwn returns Own.
func (a *Attributes) IsOwn() bool { return a.Own }

// Warn notes a warning.
func (a *Attributes) Warn(text string) { *a.Warned = append(*a.Warned, text) }

// Annotates reports whether there is a place for annotations.
func (a *Attributes) Annotates() (any, bodies bool) { return a.Annotated != nil, a.Annotated != nil }

// Annotate notes an annotation, if there is a place for it.
func (a *Attributes) Annotate(key, value string) {
	if a.Annotated != nil {
		a.Annotated[key] = value
	}
}

// AddErrors does nothing: none of those asked adds any.
func (*Attributes) AddErrors(...*field.Error) {}

// Claim takes every name.
func (*Attributes) Claim(context.Context, string) (bool, error) { return true, nil }

// Undo does nothing: nothing is written.
func (*Attributes) Undo(func(context.Context)) {}

// Chain is what asks plugins, all of which are on.
func Chain(t testing.TB, plugins ...admission.Plugin) admission.Chain {
	t.Helper()
	c, err := admission.NewChain(func(string) bool { return true }, plugins...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
