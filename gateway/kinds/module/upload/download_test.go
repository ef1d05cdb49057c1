package upload

import (
	"bytes"
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/storage/blob"
)

func TestGet(t *testing.T) {
	e, u, k := world(t)
	get := func(name, digest string) (string, error) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		r, err := u.Get(ctx, target(e, name), digest)
		cancel() // as the handler is over when the reply is sent
		if err != nil {
			return "", err
		}
		var body bytes.Buffer
		if err := r.Write(&body); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if r.ContentType != "application/wasm" || r.Size != body.Len() || r.Digest != blob.Digest(body.Bytes()) {
			t.Errorf("%s: %s %d %s", name, r.ContentType, r.Size, r.Digest)
		}
		return body.String(), nil
	}
	if _, err := get("tabs", ""); !apierrors.IsNotFound(err) {
		t.Errorf("before the upload: %v", err)
	}
	body := []byte("a module")
	if _, err := u.Put(t.Context(), target(e, "tabs"), "application/wasm", body, resource.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, digest := range []string{"", blob.Digest(body)} {
		if got, err := get("tabs", digest); err != nil || got != string(body) {
			t.Errorf("%q: %q, %v", digest, got, err)
		}
	}
	if _, err := u.Contents.PutBlob(t.Context(), []byte("of another module")); err != nil {
		t.Fatal(err)
	}
	if _, err := get("tabs", blob.Digest([]byte("of another module"))); !apierrors.IsNotFound(err) {
		t.Errorf("what belongs to another module: %v", err)
	}
	for _, name := range []string{"none", "pinned", "inline"} { // the last two are not in the store
		if _, err := get(name, ""); !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	k.down = errors.New("etcd is gone")
	if _, err := get("tabs", ""); !apierrors.IsInternalError(err) {
		t.Errorf("without the store: %v", err)
	}
}
