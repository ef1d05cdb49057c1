package authz

import (
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/wasmgate/wasmgate/gateway/authn"
)

// Attributes is one question: may User do Verb to this?
type Attributes struct {
	User *authn.User
	// Verb is an API verb (get, list, watch, create, ...) for resources, and
	// the HTTP method in lower case for other paths.
	Verb        string
	Group       string
	Version     string
	Resource    string
	Subresource string
	// Namespace is empty for cluster-scoped resources and for requests that
	// span all namespaces. For the namespaces resource itself it is the
	// namespace's own name, as in Kubernetes.
	Namespace string
	Name      string
	// Selectors narrow what a list, a watch or a deletion of a collection is about. Those of
	// a request are in Unread until somebody asks for them: most authorizers do not.
	Selectors Selectors
	Unread    UnreadSelectors
	// Path is the path of the request.
	Path string
	// ResourceRequest tells a request for a resource from one for a path.
	ResourceRequest bool
}

// Authorizer answers questions. It is safe for concurrent use.
type Authorizer interface {
	// Authorize reports whether the request is allowed. The reason, which may
	// be empty, is shown to a client that is refused. An error means that the
	// question could not be answered, which refuses.
	Authorize(ctx context.Context, a Attributes) (allowed bool, reason string, err error)
}

// Masters lets the group system:masters do everything, and nobody else anything.
type Masters struct{}

// Authorize implements [Authorizer].
func (Masters) Authorize(_ context.Context, a Attributes) (bool, string, error) {
	return a.User.In(authn.Masters), "", nil
}

// Rules implements [Lister]. It lists nothing: what administrators may do there are
// roles for.
func (Masters) Rules(*authn.User, string) ([]rbacv1.PolicyRule, error) { return nil, nil }

var openPaths = []string{"/healthz", "/livez", "/readyz", "/version", "/version/"}

// Open reports whether everybody, known or not, may ask for this path unless roles say
// otherwise: that is reading health and version.
func Open(verb, path string) bool {
	return (verb == "get" || verb == "head") && slices.Contains(openPaths, path)
}
