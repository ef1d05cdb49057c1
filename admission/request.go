package admission

import (
	"context"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// The operations.
const (
	Create = "CREATE"
	Update = "UPDATE"
	Delete = "DELETE"
	// Connect connects a client: its object are the options of that, and it has
	// no others.
	Connect = "CONNECT"
)

// Request is a write as webhooks see it. It is used by one write at a time.
type Request struct {
	// Operation is [Create], [Update], [Delete] or [Connect].
	Operation string
	// Resource and Kind are those of the request, at its version.
	Resource schema.GroupVersionResource
	Kind     schema.GroupVersionKind
	// Subresource is "" for the object itself.
	Subresource string
	// Versions are the other served versions that have the resource, or the
	// subresource, in the order of discovery: names, and GROUP/NAME of those of
	// another group ("/v1" of the core group). What methods take is one of them, or
	// that of the request.
	Versions []string
	// Namespace of a Namespace is its own name. Name is "" while the server has
	// not made it.
	Namespace, Name string
	User            User
	DryRun          bool
	// Options of the request, with their kind; nil of a connection.
	Options runtime.Object
	Objects Objects
	// Namespaces are asked for labels only where a webhook selects by them.
	Namespaces Namespaces
	// Authorizer is what conditions may ask.
	Authorizer authorizer.UnconditionalAuthorizer
	// Warn receives the warnings for the client, in order, from one goroutine.
	Warn func(text string)
	// Ignored is told of a failed call that the webhook's failurePolicy
	// ignores, maybe from several goroutines.
	Ignored func(h *Hook, err error)
	// Called is told of every call of a webhook, maybe from several goroutines.
	Called func(Call)

	changes int  // made so far
	second  bool // a second round is wanted
}

// User is who asks, as conditions and as webhooks see it.
type User interface {
	user.Info
	// Info is what a review says of the user.
	Info() authenticationv1.UserInfo
}

// At is the resource at a version.
func (r *Request) At(version string) schema.GroupVersionResource {
	at := r.Resource
	if group, name, other := strings.Cut(version, "/"); other {
		at.Group, version = group, name
	}
	at.Version = version
	return at
}

// kindAt is the kind at a version, if it is that of the resource.
func (r *Request) kindAt(version string) schema.GroupVersionKind {
	if r.Kind.Group != r.Resource.Group {
		return r.Kind
	}
	at := r.At(version)
	return at.GroupVersion().WithKind(r.Kind.Kind)
}

// Replace makes tree, which is at a version and nobody else's, the new state.
func (r *Request) Replace(ctx context.Context, version string, tree map[string]any) error {
	r.changes++
	r.second = true
	return r.Objects.Replace(ctx, version, tree)
}

// Changes is how many times [Request.Replace] was called.
func (r *Request) Changes() int { return r.changes }

// Objects are the states that a write is about. Trees are only to be read; the
// managedFields that they have are raw. They are asked for by one goroutine.
type Objects interface {
	// New is the new state at a version, nil for a deletion.
	New(ctx context.Context, version string) (map[string]any, error)
	// Old is the present state at a version, nil for a creation.
	Old(ctx context.Context, version string) (map[string]any, error)
	// Labels are those of the states that there are, which no conversion
	// changes for selectors.
	Labels() ([]labels.Set, error)
	// Replace makes tree, which is at a version and nobody else's, the new
	// state, and makes it well-formed.
	Replace(ctx context.Context, version string, tree map[string]any) error
	// Overlay is the new state at a version with a part of an object put over
	// it, merged by the schema; it changes nothing, and shares parts with both.
	Overlay(ctx context.Context, version string, part map[string]any) (map[string]any, error)
}

// Namespaces knows namespaces.
type Namespaces interface {
	// Labels of a namespace; a NotFound status error when there is none.
	Labels(ctx context.Context, name string) (labels.Set, error)
	// Namespace is a whole one, only to be read; the same error.
	Namespace(ctx context.Context, name string) (*corev1.Namespace, error)
}
