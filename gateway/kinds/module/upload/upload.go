// Package upload owns the content of modules as clients send and fetch it: a PUT
// of application/wasm to a WasmModule's content, a GET of it, and the bytes in its
// spec.
//
// It must not know how a module is loaded or run.
package upload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/storage/blob"
)

// Contents keeps the bytes of modules by digest.
type Contents interface {
	// PutBlob keeps data and returns its digest; the same again is no error.
	PutBlob(ctx context.Context, data []byte) (digest string, err error)
	// OpenBlob finds the bytes that have the digest, or fails with an error of the
	// kind storage.NotFound when there are none, and returns how many they are and
	// what writes them piece by piece; it fails rather than write other bytes to
	// the end.
	OpenBlob(ctx context.Context, digest string) (size int, write func(context.Context, io.Writer) error, err error)
}

// Checker tells what can be told of a module without running it.
type Checker interface {
	// Check refuses what can never be used, with a *plugins.LoadError; name is
	// the module's. It takes milliseconds, whatever the bytes are.
	Check(name string, module []byte) error
}

// Trust tells whether content may be a module.
type Trust interface {
	// Check refuses what may not, with a *plugins.LoadError.
	Check(ctx context.Context, obj *unstructured.Unstructured, content []byte) error
}

// Upload is the api.Content of modules. All fields are required but Turns.
type Upload struct {
	Engine   *engine.Engine
	Contents Contents
	Checker  Checker
	Trust    Trust
	// Turns are taken for looking at content; nil for none.
	Turns resource.Turns
}

// wasmMedia is the media type of a module.
const wasmMedia = "application/wasm"

// MaxBytes implements api.Content.
func (Upload) MaxBytes() int { return plugins.MaxModuleBytes }

// Put implements api.Content: the bytes are checked before anything is kept;
// then they are kept, and then the module says that they are its content, so
// that it never names what is not there.
func (u Upload) Put(ctx context.Context, t resource.Target, contentType string, body []byte, o resource.WriteOptions) (*resource.Written, error) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || media != wasmMedia {
		return nil, &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
			Message: fmt.Sprintf("the content of a module has the media type %s, not %q", wasmMedia, contentType),
		}}
	}
	if len(body) == 0 {
		return nil, apierrors.NewBadRequest("the body is empty; send the bytes of the module")
	}
	// The bytes come first: a dry run tells what is wrong with them before there
	// is a module that they could be for.
	if err := resource.InTurn(ctx, u.Turns, o.Caller, func() error { return u.Checker.Check(t.Name, body) }); err != nil {
		return nil, apierrors.NewInvalid(kind, t.Name, field.ErrorList{refusal(field.NewPath("content"), len(body), err)})
	}
	obj, err := u.takesUpload(ctx, t, blob.Digest(body))
	if err != nil {
		return nil, err
	}
	if err := resource.InTurn(ctx, u.Turns, o.Caller, func() error { return u.Trust.Check(ctx, obj, body) }); err != nil {
		return nil, apierrors.NewInvalid(kind, t.Name, field.ErrorList{refusal(field.NewPath("content"), len(body), err)})
	}
	ctx, cancel := context.WithTimeout(ctx, module.ContentGrace/3) // the reference has to come in time
	defer cancel()
	digest := ""
	if o.DryRun {
		digest = blob.Digest(body)
	} else if digest, err = u.Contents.PutBlob(ctx, body); errors.Is(err, blob.ErrQuota) {
		return nil, apierrors.NewForbidden(t.Resource.GroupResource(), t.Name, fmt.Errorf("%w; delete modules, lower spec.revisionHistoryLimit, or raise --module-quota", err))
	} else if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("keeping the module's content: %w", err))
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{module.ContentAnnotation: digest}}})
	if err != nil {
		return nil, err
	}
	t.Subresource = ""
	return u.Engine.Patch(module.Uploading(ctx, digest), t, types.MergePatchType, patch, o)
}

// kind is what an invalid module is told to be.
var kind = schema.GroupKind{Group: gvr.Modules.Group, Kind: "WasmModule"}

// refusal is the error for bytes that a Checker refuses.
func refusal(path *field.Path, size int, err error) *field.Error {
	var refused *plugins.LoadError
	if !errors.As(err, &refused) {
		return field.InternalError(path, err)
	}
	return field.Invalid(path, fmt.Sprintf("%d bytes", size), fmt.Sprintf("%s: %s", refused.Reason, refused.Detail))
}

// takesUpload refuses content for a module that takes its bytes from
// elsewhere, or only others, before anything is kept.
func (u Upload) takesUpload(ctx context.Context, t resource.Target, digest string) (*unstructured.Unstructured, error) {
	obj, err := u.object(ctx, t)
	if err != nil {
		return nil, err
	}
	upload, ok, _ := unstructured.NestedMap(obj.Object, "spec", "source", "upload")
	if !ok {
		return nil, apierrors.NewConflict(t.Resource.GroupResource(), t.Name, errors.New("its spec.source is not upload; set spec.source to {upload: {}} first"))
	}
	if want := module.PinnedDigest(upload); want != "" && want != digest {
		return nil, apierrors.NewConflict(t.Resource.GroupResource(), t.Name, fmt.Errorf("its spec.source.upload.digest is %s, and the digest of these bytes %s", want, digest))
	}
	return obj, nil
}
