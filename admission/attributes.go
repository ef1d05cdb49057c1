package admission

import (
	"context"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiserveradmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
)

// Operation is what a request does to an object.
type Operation = apiserveradmission.Operation

// The operations.
const (
	Create = apiserveradmission.Create
	Update = apiserveradmission.Update
	Delete = apiserveradmission.Delete
	// Connect is no write: a client is connected. Its object are the options of
	// that, and it has no others.
	Connect = apiserveradmission.Connect
)

// Mutator is an admission plugin of the mutating phase.
type Mutator interface {
	// Mutate may change the request by Replace, or refuse it with an error that is
	// the client's, as it is. It may run again when a write is tried again.
	Mutate(ctx context.Context, a Attributes) error
}

// Validator is an admission plugin of the validating phase.
type Validator interface {
	// Validate refuses the request with an error that is the client's, as it is. It
	// changes nothing: what GetObject returns is what would be stored, at the version
	// of the request.
	Validate(ctx context.Context, a Attributes) error
}

// Attributes are what an admission plugin sees of a request, by the names of
// k8s.io/apiserver/pkg/admission. They differ in that an object can be had at any
// version, and is converted only for a plugin that asks for it.
//
// They are used by one goroutine; those of [Resource], [Named] and [Request] but
// GetOperationOptions may be read by several.
type Attributes interface {
	Resource
	Named
	Request
	Verbed
	Waiting
	Taking
	Objects
	States
	Namespaces
	Client
}

// Resource is the resource that a request is about.
type Resource interface {
	// GetResource is that of the request, at its version.
	GetResource() schema.GroupVersionResource
	// GetKind is the kind of what is sent: a Scale for a scale.
	GetKind() schema.GroupVersionKind
	// GetSubresource is "" for the object itself.
	GetSubresource() string
	// GetVersions are the other served versions that have the resource, or the
	// subresource, in the order of discovery: names, and GROUP/NAME of those of
	// another group ("/v1" of the core group). What methods take as a version is one
	// of them, or that of the request.
	GetVersions() []string
	// GetGroups are all groups that serve the resource, always the same for it.
	GetGroups() []string
}

// Named is which object a request is about.
type Named interface {
	// GetNamespace of a Namespace is its own name.
	GetNamespace() string
	// GetName is "" while the server has not made it, and for the deletion of one
	// object of a collection, which is all that the request named.
	GetName() string
	// GetRequestName is the name in the request's path: "" for what is created in a
	// collection, whatever it says that it is called.
	GetRequestName() string
}

// Request is what a request says of itself.
type Request interface {
	// GetOperation is what the request does to the object.
	GetOperation() Operation
	// GetOperationOptions have their kind; nil of a connection.
	GetOperationOptions() runtime.Object
	// IsDryRun reports whether nothing is going to be stored.
	IsDryRun() bool
	// GetUserInfo is who makes the request, maybe the anonymous user.
	GetUserInfo() User
	// IsOwn reports whether a part of the gateway makes the request by itself, which
	// no name of a user tells: a client may impersonate any.
	IsOwn() bool
}

// Verbed is what a request asks for, which its operation does not tell: an apply may create.
type Verbed interface {
	// GetVerb is the verb that was authorized of what changes an object: create, update or
	// patch. It is "" for anything else.
	GetVerb() string
}

// Waiting is a request that waits for what is not the gateway's own work.
type Waiting interface {
	// Waited notes for how long.
	Waited(d time.Duration)
}

// Taking is a request for which something is written before it is decided on.
type Taking interface {
	// Undo has undo called if nothing comes of the request as it is now: it is refused, or
	// decided on anew. It is not called where the request may have been committed.
	Undo(undo func(ctx context.Context))
}

// User is who makes a request, as conditions and as webhooks see it.
type User interface {
	user.Info
	// Info is what a review says of the user.
	Info() authenticationv1.UserInfo
}

// Objects are the states of the object at the version of the request, or at the
// one that it is stored at for a change of nothing but metadata, without their
// managedFields.
type Objects interface {
	// GetObject is the new state; nil for a deletion. It is changed by Replace alone.
	GetObject() *unstructured.Unstructured
	// GetOldObject is the present state, only to be read; nil for a creation. For a
	// deletion, or a change of nothing but metadata, it may ask the converter.
	GetOldObject(ctx context.Context) (*unstructured.Unstructured, error)
}

// States are the states of the object at any version, with their managedFields,
// which are raw. Trees are only to be read.
type States interface {
	// GetObjectAt is the new state at a version, nil for a deletion.
	GetObjectAt(ctx context.Context, version string) (map[string]any, error)
	// GetOldObjectAt is the present state at a version, nil for a creation.
	GetOldObjectAt(ctx context.Context, version string) (map[string]any, error)
	// GetLabels are those of the states that there are, the new one first, which no
	// conversion changes for selectors.
	GetLabels() ([]labels.Set, error)
	// Replace makes tree, which is at a version and nobody else's, the new state, and
	// makes it well-formed.
	Replace(ctx context.Context, version string, tree map[string]any) error
	// Overlay is the new state at a version with a part of an object put over it,
	// merged by the schema; it changes nothing, and shares parts with both.
	Overlay(ctx context.Context, version string, part map[string]any) (map[string]any, error)
}

// Namespaces knows namespaces.
type Namespaces interface {
	// IsNamespaceTerminating reports whether a namespace is being deleted; a NotFound
	// status error when there is none.
	IsNamespaceTerminating(ctx context.Context, name string) (bool, error)
	// GetNamespaceLabels are those of a namespace; the same error.
	GetNamespaceLabels(ctx context.Context, name string) (labels.Set, error)
	// GetNamespaceObject is a whole one, only to be read; the same error.
	GetNamespaceObject(ctx context.Context, name string) (*corev1.Namespace, error)
}

// Client is what a plugin does for the client beside changing the object.
type Client interface {
	// Warn adds a warning for the client.
	Warn(text string)
	// Annotate adds to what is kept of the request, for who audits it.
	Annotate(key, value string)
	// Annotates reports whether any annotation is kept, and whether bodies are, and what
	// tells of them.
	Annotates() (any, bodies bool)
	// AddErrors has validation refuse the new state for mistakes that only a
	// [Mutator] can find, and tell them before its own.
	AddErrors(errs ...*field.Error)
	// Claim takes a name for this request, until it has ended: no other request has
	// it meanwhile, on whichever gateway. It is false when another has it. A dry run
	// takes nothing.
	Claim(ctx context.Context, name string) (bool, error)
}

// ResourceAt is the resource of a request at one of its versions.
func ResourceAt(r Resource, version string) schema.GroupVersionResource {
	at := r.GetResource()
	if group, name, other := strings.Cut(version, "/"); other {
		at.Group, version = group, name
	}
	at.Version = version
	return at
}

// KindAt is the kind at a version, if it is that of the resource.
func KindAt(r Resource, version string) schema.GroupVersionKind {
	kind := r.GetKind()
	if kind.Group != r.GetResource().Group {
		return kind
	}
	at := ResourceAt(r, version)
	return at.GroupVersion().WithKind(kind.Kind)
}

// NameOf is the name of the object of a request, or the beginning of the one that it
// will get.
func NameOf(a Attributes) string {
	if name := a.GetName(); name != "" {
		return name
	}
	return a.GetObject().GetGenerateName()
}

// IsNamespace reports whether a request is about a Namespace itself.
func IsNamespace(r Resource) bool {
	at := r.GetResource()
	return at.Group == "" && at.Resource == "namespaces"
}
