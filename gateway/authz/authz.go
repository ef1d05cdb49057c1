package authz

import (
	"context"
	"strings"

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
	// Selectors narrow what a list, a watch or a deletion of a collection is about.
	Selectors Selectors
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

// Masters lets the group system:masters do everything, who is known ask about
// oneself, everybody read the paths of [Open], and nobody anything else.
type Masters struct{}

// Authorize implements [Authorizer].
func (Masters) Authorize(_ context.Context, a Attributes) (bool, string, error) {
	if a.User.In(authn.Masters) {
		return true, "", nil
	}
	if a.ResourceRequest {
		return a.User.In(authn.AllAuthenticated) && oneself(a), "", nil
	}
	return Open(a.Verb, a.Path), "", nil
}

// Rules implements [Lister].
func (Masters) Rules(user *authn.User, _ string) ([]rbacv1.PolicyRule, error) {
	if user.In(authn.Masters) {
		return everything(), nil
	}
	return nil, nil
}

// oneself tells whether a request asks who the user is, or what the user may do.
func oneself(a Attributes) bool {
	if a.Verb != "create" || a.Subresource != "" {
		return false
	}
	switch a.Group {
	case "authentication.k8s.io":
		return a.Resource == "selfsubjectreviews"
	case "authorization.k8s.io":
		return a.Resource == "selfsubjectaccessreviews" || a.Resource == "selfsubjectrulesreviews"
	}
	return false
}

var openPaths = []string{"/healthz", "/livez", "/readyz", "/version"}

// Open reports whether everybody, known or not, may use this path: reading
// health and version.
func Open(verb, path string) bool {
	if verb != "get" && verb != "head" {
		return false
	}
	for _, p := range openPaths {
		if rest, ok := strings.CutPrefix(path, p); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}
