package api

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

// misplaced answers requests whose path has a namespace too many, or lacks one; nil
// of all others. An empty name of a namespace is none, and lists and watches are
// about all namespaces then. kube-apiserver tells its own kinds from custom ones here.
func misplaced(snapshot *catalog.Snapshot, i *Info, t resource.Target) *Response {
	switch native := t.Version.Native(); {
	case !t.Resource.Def.Namespaced && i.scoped:
	case !t.Resource.Def.Namespaced, i.Namespace != "", i.Name == "" && (i.Verb == "list" || i.Verb == "watch"):
		return nil
	case native && i.scoped:
		return ErrorResponse(apierrors.NewBadRequest("Namespace parameter required."))
	case native && i.Name == "":
		return methodNotAllowed(t, i.Verb)
	}
	return unknownResource(snapshot, i)
}

// deprecated tells everybody who wants to know that a deprecated version was
// asked for.
func deprecated(by Observer, c *Call, v *crd.Version, resp *Response) {
	if v.Warning != "" {
		resp.Headers = slices.Insert(resp.Headers, 0, warningHeader(v.Warning))
	}
	by.Deprecated(&c.Info, v.RemovedRelease)
	c.Annotate("k8s.io/deprecated", "true")
	if v.RemovedRelease != "" {
		c.Annotate("k8s.io/removed-release", v.RemovedRelease)
	}
}

// misaddressed answers requests that name an object where a collection belongs,
// or none where one does. As in kube-apiserver, built-in kinds have no such
// method, and custom resources are more patient: an object may be created at
// any name.
func misaddressed(i *Info, t resource.Target) (*Response, error) {
	nameless := i.Name == "" && (i.Verb == "update" || i.Verb == "patch")
	switch {
	case t.Version.Native() && (nameless || i.Verb == "create" && i.Name != ""):
		return methodNotAllowed(t, i.Verb), nil
	case nameless:
		return nil, apierrors.NewBadRequest("name must be provided")
	case !t.Version.Native() && i.Name != "":
		if wrong := content.IsPathSegmentName(i.Name); len(wrong) > 0 {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", i.Name, strings.Join(wrong, ";")))
		}
	}
	return nil, nil
}

// bodiless tells a HEAD of a built-in kind: as in kube-apiserver, only custom
// resources have that.
func (c *Call) bodiless(t resource.Target) bool {
	return c.Method == http.MethodHead && t.Version.Native()
}

// named tells a verb that is about one object.
func named(verb string) bool {
	return verb == "get" || verb == "update" || verb == "patch" || verb == "delete"
}

func allowed(verbs []string, verb string) bool {
	for _, v := range verbs {
		if v == verb {
			return true
		}
	}
	return false
}
