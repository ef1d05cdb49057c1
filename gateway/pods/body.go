package pods

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// sent is what a client makes at a subresource: it reads the body into an
// object, which may leave out of which kind it is, checks whose it is, and lets
// admission judge it. The first of versions is the one that is meant.
func (a Admit) sent(ctx context.Context, t resource.Target, contentType string, body []byte, into api.Message, kind string, versions []schema.GroupVersion, o resource.WriteOptions) error {
	said, err := api.ReadMessage(contentType, body, into, kind, versions[0])
	if err != nil {
		return err
	}
	if said.Kind != kind || !slices.Contains(versions, said.GroupVersion()) {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: no kind %q is registered for version %q", said.Kind, said.Version, kind, said.Kind, said.GroupVersion()))
	}
	if n := into.GetNamespace(); n != "" && n != t.Namespace {
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	if into.GetName() != t.Name {
		return apierrors.NewBadRequest(fmt.Sprintf("name in URL does not match name in %s object", kind))
	}
	return a.made(ctx, t, versions[0].WithKind(kind), into, o)
}
