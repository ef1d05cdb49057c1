package authz

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// noMarkup keeps names that a client chose from reading as HTML in a reply.
var noMarkup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// ForbiddenError is the 403 for a refused request, worded as kube-apiserver
// words it, with the authorizer's reason appended if there is one.
func ForbiddenError(a Attributes, reason string) *apierrors.StatusError {
	msg := noMarkup.Replace(Refusal(a))
	if reason != "" {
		msg += ": " + reason
	}
	if !a.ResourceRequest { // whatever group its path names
		return apierrors.NewForbidden(schema.GroupResource{}, "", errors.New(msg))
	}
	return apierrors.NewForbidden(schema.GroupResource{Group: a.Group, Resource: a.Resource}, a.Name, errors.New(msg))
}

// UnauthorizedError is the 401 for a request whose sender is not known.
func UnauthorizedError() *apierrors.StatusError {
	return apierrors.NewUnauthorized("Unauthorized")
}

// Refusal says what the user may not do, as kube-apiserver words it.
func Refusal(a Attributes) string {
	name := ""
	if a.User != nil {
		name = a.User.Name
	}
	if !a.ResourceRequest {
		return fmt.Sprintf("User %q cannot %s path %q", name, a.Verb, a.Path)
	}
	resource := a.Resource
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	where := "at the cluster scope"
	if a.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", a.Namespace)
	}
	return fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", name, a.Verb, resource, a.Group, where)
}
