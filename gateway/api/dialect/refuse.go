package dialect

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/patch"
)

// NoResource is the refusal of a resource that is not served: a Status in groups of
// which Kubernetes itself has kinds.
func NoResource(s *catalog.Snapshot, group string) error {
	known := group == "" || slices.ContainsFunc(s.Definitions, func(d *crd.Definition) bool {
		return slices.Contains(d.Groups(), group) && slices.ContainsFunc(d.Versions, (*crd.Version).Native)
	})
	if known {
		return Unrouted(http.StatusNotFound)
	}
	return reply.ErrNoPath
}

// MethodNotAllowed is the refusal of a verb that a kind has not.
func MethodNotAllowed(t resource.Target, verb string) error {
	if t.Version.Native() {
		return Unrouted(http.StatusMethodNotAllowed)
	}
	return apierrors.NewMethodNotSupported(t.GroupResource(), verb)
}

// unversioned is a refusal that is made before it is known what version a request is
// about, and so without that version's warning.
type unversioned struct{ *apierrors.StatusError }

// Versioned reports whether err, which may be nil, is the answer of a version.
func Versioned(err error) bool { return !errors.As(err, &unversioned{}) }

// Unrouted is the refusal of a request that no handler of a built-in kind is for.
func Unrouted(code int) error {
	return unversioned{apierrors.NewGenericServerResponse(code, "", schema.GroupResource{}, "", "", 0, false)}
}

// Unaccepted refuses an Accept header which names none of the types that are offered
// in full, nor any: the router in front of Kubernetes' own kinds looks at no weights
// and parameters. streams are those of a watch.
func Unaccepted(accept string, offered, streams []string) error {
	for part := range strings.SplitSeq(accept, ",") {
		media, _, _ := strings.Cut(part, ";")
		if media = strings.Trim(media, " "); media == "*/*" || slices.Contains(offered, media) {
			return nil
		}
	}
	return routerSays(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable, "406: Not Acceptable\n\nAvailable representations: "+strings.Join(slices.Concat(offered, streams), ", "))
}

// UnsupportedPatch is the refusal of a patch whose media type t does not take.
func UnsupportedPatch(t resource.Target) error {
	if !t.Version.Native() {
		return patch.Unsupported()
	}
	return routerSays(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType, "415: Unsupported Media Type")
}

func routerSays(code int32, reason metav1.StatusReason, text string) error {
	return unversioned{&apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: text, Details: &metav1.StatusDetails{},
	}}}
}
