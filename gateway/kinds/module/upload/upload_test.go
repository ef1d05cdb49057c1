package upload

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/blob"
)

// kept are the contents that were put, and whether the store works.
type kept struct {
	blobs map[string][]byte
	down  error
}

func (k *kept) PutBlob(_ context.Context, data []byte) (digest string, err error) {
	if k.down != nil {
		return "", k.down
	}
	k.blobs[k.Digest(data)] = data
	return k.Digest(data), nil
}

func (k *kept) OpenBlob(_ context.Context, digest string) (int, func(context.Context, io.Writer) error, error) {
	if k.down != nil {
		return 0, nil, k.down
	}
	data, ok := k.blobs[digest]
	if !ok {
		return 0, nil, &storage.Error{Kind: storage.NotFound}
	}
	return len(data), func(ctx context.Context, w io.Writer) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		_, err := w.Write(data)
		return err
	}, nil
}

func (k *kept) Digest(data []byte) string { return blob.Digest(data) }

// trustful refuses nothing but what says that it is somebody's.
type trustful struct{}

func (trustful) Check(_ context.Context, obj *unstructured.Unstructured, content []byte) error {
	if bytes.Contains(content, []byte("foreign")) {
		return &plugins.LoadError{Module: obj.GetName(), Reason: "Unsigned", Detail: "it is somebody's"}
	}
	return nil
}

// wary refuses bytes that say so.
type wary struct{}

func (wary) Check(name string, module []byte) error {
	switch {
	case bytes.Contains(module, []byte("bad")):
		return &plugins.LoadError{Module: name, Reason: plugins.MissingExport, Detail: "export memory is missing"}
	case bytes.Contains(module, []byte("odd")):
		return errors.New("the disk is full")
	}
	return nil
}

// world has a module that takes uploads and one that does not.
func world(t *testing.T) (*realengine.Engine, Upload, *kept) {
	t.Helper()
	e := realengine.Start(t)
	create := func(name string, source map[string]any) {
		tree := controllertest.ObjectTree("", name)
		tree["spec"] = map[string]any{"source": source}
		controllertest.MustCreate(t, e, gvr.Modules, tree)
	}
	create("tabs", map[string]any{"upload": map[string]any{}})
	create("pinned", map[string]any{"upload": map[string]any{"digest": blob.Digest([]byte("this"))}})
	create("inline", map[string]any{"inline": "AGFzbQEAAAA="})
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	k := &kept{blobs: map[string][]byte{}}
	return e, Upload{Engine: e.Verbs, Contents: k, Checker: wary{}, Trust: trustful{}}, k
}

func target(e *realengine.Engine, name string) resource.Target {
	r, v := e.Catalog.Snapshot().Find(gvr.Modules.Group, "v1", gvr.Modules.Resource)
	return resource.Target{Resource: r, Version: v, Name: name, Subresource: "content"}
}

func TestPut(t *testing.T) {
	e, u, k := world(t)
	body := []byte("a module")
	for _, media := range []string{"application/wasm", "Application/WASM; x=y"} {
		out, err := u.Put(t.Context(), target(e, "tabs"), media, body, resource.WriteOptions{})
		if err != nil || !strings.Contains(string(out.Object), k.Digest(body)) {
			t.Fatalf("%s: %v, %v", media, out, err)
		}
	}
	if _, err := u.Put(t.Context(), target(e, "pinned"), "application/wasm", []byte("this"), resource.WriteOptions{DryRun: true}); err != nil {
		t.Errorf("the bytes that are pinned: %v", err)
	}
	if len(k.blobs) != 1 || !bytes.Equal(k.blobs[k.Digest(body)], body) {
		t.Errorf("kept %v", k.blobs)
	}
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	obj := controllertest.MustGet(t, e, gvr.Modules, "", "tabs")
	if got := obj.GetAnnotations()[module.ContentAnnotation]; got != k.Digest(body) {
		t.Errorf("the object names %q", got)
	}
	if u.MaxBytes() != plugins.MaxModuleBytes {
		t.Errorf("at most %d bytes", u.MaxBytes())
	}
}

func TestPutRefuses(t *testing.T) {
	e, u, k := world(t)
	for name, c := range map[string]struct {
		module, media, body string
		is                  func(error) bool
		message             string
	}{
		"other media":   {"tabs", "application/json", "x", apierrors.IsUnsupportedMediaType, `application/wasm, not "application/json"`},
		"no media":      {"tabs", "", "x", apierrors.IsUnsupportedMediaType, "application/wasm"},
		"empty":         {"tabs", "application/wasm", "", apierrors.IsBadRequest, "the body is empty"},
		"no module":     {"none", "application/wasm", "x", apierrors.IsNotFound, `"none" not found`},
		"inline":        {"inline", "application/wasm", "x", apierrors.IsConflict, "its spec.source is not upload"},
		"other bytes":   {"pinned", "application/wasm", "that", apierrors.IsConflict, "its spec.source.upload.digest is " + blob.Digest([]byte("this")) + ", and the digest of these bytes " + blob.Digest([]byte("that"))},
		"no such thing": {"tabs", "application/wasm", "bad", apierrors.IsInvalid, "export memory is missing"},
		"disk":          {"tabs", "application/wasm", "odd", apierrors.IsInvalid, "the disk is full"},
	} {
		_, err := u.Put(t.Context(), target(e, c.module), c.media, []byte(c.body), resource.WriteOptions{})
		if err == nil || !c.is(err) || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: %v", name, err)
		}
	}
	k.down = fmt.Errorf("put: %w", blob.ErrQuota)
	if _, err := u.Put(t.Context(), target(e, "tabs"), "application/wasm", []byte("x"), resource.WriteOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "raise --module-quota") {
		t.Errorf("over the quota: %v", err)
	}
	k.down = errors.New("out of space")
	if _, err := u.Put(t.Context(), target(e, "tabs"), "application/wasm", []byte("x"), resource.WriteOptions{}); !apierrors.IsInternalError(err) {
		t.Errorf("a store that is full: %v", err)
	}
	if len(k.blobs) != 0 {
		t.Errorf("kept, though refused: %v", k.blobs)
	}
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := controllertest.MustGet(t, e, gvr.Modules, "", "tabs").GetAnnotations(); len(a) != 0 {
		t.Errorf("the object was changed: %v", a)
	}
}

func TestPutDryRun_DRY02(t *testing.T) {
	e, u, k := world(t)
	out, err := u.Put(t.Context(), target(e, "tabs"), "application/wasm", []byte("x"), resource.WriteOptions{DryRun: true})
	if err != nil || !strings.Contains(string(out.Object), k.Digest([]byte("x"))) {
		t.Fatalf("%v, %v", out, err)
	}
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := controllertest.MustGet(t, e, gvr.Modules, "", "tabs").GetAnnotations(); len(k.blobs) != 0 || len(a) != 0 {
		t.Errorf("kept %v, annotated %v", k.blobs, a)
	}
}

func TestRefusal(t *testing.T) {
	path := field.NewPath("content")
	known := refusal(path, 5, &plugins.LoadError{Reason: plugins.MissingExport, Detail: "d"})
	if known.Type != field.ErrorTypeInvalid || known.Field != "content" || known.BadValue != "5 bytes" || !strings.HasSuffix(known.Detail, ": d") {
		t.Errorf("%+v", known)
	}
	if other := refusal(path, 5, errors.New("x")); other.Type != field.ErrorTypeInternal {
		t.Errorf("%+v", other)
	}
}

func TestSources(t *testing.T) {
	e := realengine.Start(t)
	s := Sources{Strategy: target(e, "").Version.Strategy, Checker: wary{}, Trust: func() Trust { return trustful{} }, Image: func(image string) error {
		if strings.Contains(image, "bad") {
			return errors.New("it is no name")
		}
		return nil
	}}
	const inline, image = "spec.source.inline", "spec.source.oci.image"
	with := func(field, text string) *unstructured.Unstructured {
		source := map[string]any{"upload": map[string]any{}}
		switch {
		case text == "":
		case field == inline:
			source = map[string]any{"inline": text}
		default:
			source = map[string]any{"oci": map[string]any{"image": text}}
		}
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule", "metadata": map[string]any{"name": "tabs", "resourceVersion": "1"},
			"spec": map[string]any{"source": source},
		}}
	}
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	good, bad, foreign := encode("good"), encode("bad"), encode("foreign")
	for name, c := range map[string]struct {
		field, text, before string
		want                string
	}{
		"good": {inline, good, "", ""}, "no bytes": {inline, "", "", ""}, "bad": {inline, bad, "", "export memory is missing"}, "no base64": {inline, "???", "", "illegal base64"},
		"foreign": {inline, foreign, good, "Unsigned: it is somebody's"}, "foreign as it was": {inline, foreign, foreign, ""},
		"bad instead of good": {inline, bad, good, "export memory is missing"}, "good instead of bad": {inline, good, bad, ""},
		"bad as it was": {inline, bad, bad, ""}, "bytes go": {inline, "", bad, ""},
		"good image": {image, "r/good:v1", "", ""}, "bad image": {image, "bad", "", `Invalid value: "bad": it is no name`},
		"bad image as it was": {image, "bad", "bad", ""}, "another bad image": {image, "bad2", "bad", "it is no name"}, "image goes": {image, "", "bad", ""},
	} {
		errs := s.Validate(t.Context(), with(c.field, c.text), with(c.field, c.before)).Errors
		if c.before == "" {
			obj := with(c.field, c.text)
			obj.SetResourceVersion("")
			errs = s.Validate(t.Context(), obj, nil).Errors
		}
		if (len(errs) > 0) != (c.want != "") || c.want != "" && (!strings.Contains(errs.ToAggregate().Error(), c.want) || errs[0].Field != c.field) {
			t.Errorf("%s: %v", name, errs)
		}
	}
}
