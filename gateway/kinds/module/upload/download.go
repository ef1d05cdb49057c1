package upload

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/blob"
)

// sendTime bounds how long content is read while it is sent.
const sendTime = 2 * time.Minute

// Get implements api.Content: the bytes that have the digest, if the module refers
// to them, or those that it asks for. They are read as they are sent, so that many replies take little memory, and not at all for
// a HEAD.
func (u Upload) Get(ctx context.Context, t resource.Target, digest string) (*resource.Content, error) {
	obj, err := u.object(ctx, t)
	if err != nil {
		return nil, err
	}
	digests := module.Digests(obj, blob.Digest)
	switch {
	case digest == "" && len(digests) == 0:
		return nil, none(t, "it has no content yet; upload it with: wasmgate module push "+t.Name+" FILE.wasm")
	case digest == "":
		digest = digests[0]
	case !slices.Contains(digests, digest):
		return nil, none(t, fmt.Sprintf("it has no content %q; those that it has are listed by: wasmgate module history %s", digest, t.Name))
	}
	size, write, err := u.Contents.OpenBlob(ctx, digest)
	if storage.KindOf(err) == storage.NotFound {
		return nil, none(t, "its content "+digest+" is not in the store")
	}
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("reading the module's content: %w", err))
	}
	return &resource.Content{
		ContentType: wasmMedia, Digest: digest, Size: size,
		Write: func(w io.Writer) error { // after ctx, which is the handler's
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTime)
			defer cancel()
			return write(ctx, w)
		},
	}, nil
}

// none says why a module has no such content.
func none(t resource.Target, why string) error {
	err := apierrors.NewNotFound(t.Resource.GroupResource(), t.Name+"/content")
	err.ErrStatus.Message += ": " + why
	return err
}

// object is the module that a subresource is of.
func (u Upload) object(ctx context.Context, t resource.Target) (*unstructured.Unstructured, error) {
	t.Subresource = ""
	data, err := u.Engine.Get(ctx, t, "", encoding.At(t.Version.Name))
	if err != nil {
		return nil, err
	}
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON(data.Bytes()); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return obj, nil
}
