package dialect

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Misplaced refuses a request whose path has a namespace too many, or lacks one.
// scoped: there is a place for it. An empty name of a namespace is none, and lists
// and watches are about all namespaces then.
func Misplaced(s *catalog.Snapshot, t resource.Target, verb string, scoped bool) error {
	switch native := t.Version.Native(); {
	case !t.Resource.Def.Namespaced && scoped:
	case !t.Resource.Def.Namespaced, t.Namespace != "":
		return nil
	case native && !scoped && t.Resource.Def.Question():
		return Unrouted(http.StatusNotFound) // nobody is asked in all namespaces
	case t.Name == "" && (verb == "list" || verb == "watch"):
		return nil
	case native && scoped && verb == "create" && t.Name == "" && slices.Contains(t.Resource.Def.ServedVerbs(), "get"):
		return nil // the object lacks a namespace then, beside what else is wrong with it
	case native && scoped:
		return apierrors.NewBadRequest("Namespace parameter required.")
	case native && t.Name == "":
		return MethodNotAllowed(t, verb)
	}
	return NoResource(s, t.GroupResource().Group)
}

// Watched refuses a path that asks for a watch in the old way, and for what is not one.
func Watched(t resource.Target, verb, method string) error {
	switch {
	case t.Subresource == "" && method == http.MethodGet:
		return nil
	case t.Subresource != "" && t.Version.Native(): // they were for objects only
		return Unrouted(http.StatusNotFound)
	}
	return MethodNotAllowed(t, verb)
}

// Unserved refuses a request about objects for which the kind, whose verbs are given,
// has no handler, and one that names an object where a collection belongs, or none
// where one does. Custom resources are more patient: an object may be created at any
// name.
func Unserved(t resource.Target, verb, method string, verbs []string) error {
	native, nameless := t.Version.Native(), t.Name == "" && (verb == "update" || verb == "patch")
	switch {
	case native && t.Name != "" && !slices.ContainsFunc(verbs, named):
		return Unrouted(http.StatusNotFound) // of what is only created there are no objects
	case verb == "watch" && !slices.Contains(verbs, "watch") && slices.Contains(verbs, "list"):
		return apierrors.NewMethodNotSupported(t.GroupResource(), verb) // it is a list that is asked for something else
	case !slices.Contains(verbs, verb), Bodiless(t, method), native && (nameless || verb == "create" && t.Name != ""):
		return MethodNotAllowed(t, verb)
	case nameless:
		return apierrors.NewBadRequest("name must be provided")
	case !native && t.Name != "":
		if wrong := content.IsPathSegmentName(t.Name); len(wrong) > 0 {
			return apierrors.NewBadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", t.Name, strings.Join(wrong, ";")))
		}
	}
	return nil
}

// UnservedBelow is [Unserved] for what is below an object, which is nil where there
// is no such thing. below is what the path has after it.
func UnservedBelow(snapshot *catalog.Snapshot, t resource.Target, s *crd.Subresource, verb, method, below string) error {
	switch {
	case t.Name == "" || t.Version.Native() && (s == nil || below != ""):
		return NoResource(snapshot, t.GroupResource().Group)
	case s == nil:
		return apierrors.NewNotFound(t.GroupResource(), t.Name)
	case !slices.Contains(s.Verbs, verb), Bodiless(t, method):
		return MethodNotAllowed(t, verb)
	}
	return nil
}

// Bodiless reports whether a request is a HEAD that nobody answers: only custom
// resources have that.
func Bodiless(t resource.Target, method string) bool {
	return method == http.MethodHead && t.Version.Native()
}

// named tells a verb that is about one object.
func named(verb string) bool {
	return verb == "get" || verb == "update" || verb == "patch" || verb == "delete"
}
