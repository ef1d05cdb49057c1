package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/gateway/controller/kinds"
	"github.com/wasmgate/wasmgate/gateway/controller/module"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/modules"
	"github.com/wasmgate/wasmgate/plugins/wasm"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/blob"
)

// moduleHost connects the Wasm runtime and the store of module contents with
// the controller that loads modules and the handler that takes uploads.
type moduleHost struct {
	g        *gateway
	engine   *wasm.Engine
	registry *modules.Registry
	blobs    *blob.Blobs
}

func newModuleHost(ctx context.Context, g *gateway) (*moduleHost, error) {
	log := g.log.With().Str("component", "modules").Logger()
	engine, err := wasm.NewEngine(ctx, wasm.Config{
		CacheDir: filepath.Join(g.options.DataDir, "wasm-cache"),
		Log:      func(name, line string) { log.Debug().Str("module", name).Msg(line) },
	})
	if err != nil {
		return nil, err
	}
	return &moduleHost{
		g: g, engine: engine, registry: modules.New(modules.Config{Engine: engine}),
		blobs: blob.New(g.store, "/wasmgate"+g.options.EtcdPrefix+"/blobs/"),
	}, nil
}

func (m *moduleHost) close(ctx context.Context) error {
	return errors.Join(m.registry.Close(ctx), m.engine.Close(ctx))
}

// converter is the converter of a wasm:// URL.
func (m *moduleHost) converter(name string) *conversion.Bulk {
	return m.registry.Converter(strings.TrimSuffix(name, "/"))
}

// Set implements module.Runtime.
func (m *moduleHost) Set(ctx context.Context, name string, rev module.Revision) (module.Status, error) {
	s, err := m.registry.Set(ctx, modules.Spec{Name: name, Bytes: rev.Bytes, Digest: rev.Digest, Config: rev.Config, Limits: rev.Limits})
	out := module.Status{Digest: s.Digest, Size: int64(s.Size), ABI: s.ABI}
	for _, h := range s.Hooks {
		out.Hooks = append(out.Hooks, string(h))
	}
	return out, err
}

// Remove implements module.Runtime.
func (m *moduleHost) Remove(name string) {
	m.registry.Remove(name)
	m.g.metrics.ForgetPlugin(name)
}

// moduleContent keeps the bytes of modules in the store.
type moduleContent struct{ blobs *blob.Blobs }

// Get implements module.Content.
func (c moduleContent) Get(ctx context.Context, digest string) ([]byte, error) {
	data, err := c.blobs.GetBlob(ctx, digest)
	if storage.KindOf(err) == storage.NotFound {
		return nil, fmt.Errorf("%w: %s", module.ErrNoContent, digest)
	}
	return data, err
}

// Put implements module.Content.
func (c moduleContent) Put(ctx context.Context, digest string, data []byte) error {
	return c.blobs.PutBlob(ctx, digest, data)
}

// wasmMedia is the media type of a module.
const wasmMedia = "application/wasm"

// isModuleContent tells uploads from other requests before their body is read.
func isModuleContent(method, path string) bool {
	return method == http.MethodPut && strings.HasPrefix(path, "/apis/wasmgate.dev/v1/wasmmodules/") &&
		strings.HasSuffix(strings.TrimSuffix(path, "/"), "/content")
}

// Put implements api.Content: the bytes are kept first, then the module says
// that they are its content, so that it never names what is not there.
func (m *moduleHost) Put(ctx context.Context, t resource.Target, contentType string, body []byte, o resource.WriteOptions) (*resource.Written, error) {
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
	if len(body) > plugins.MaxModuleBytes {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("a module may have %d bytes, this one has %d", plugins.MaxModuleBytes, len(body)))
	}
	if err := m.takesUpload(ctx, t); err != nil {
		return nil, err
	}
	digest := modules.Digest(body)
	if !o.DryRun {
		if err := m.blobs.PutBlob(ctx, digest, body); err != nil {
			return nil, apierrors.NewInternalError(fmt.Errorf("keeping the module's content: %w", err))
		}
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{module.ContentAnnotation: digest}}})
	if err != nil {
		return nil, err
	}
	t.Subresource = ""
	return m.g.engine.Patch(ctx, t, types.MergePatchType, patch, o)
}

// takesUpload refuses content for a module that takes its bytes from
// elsewhere, before anything is kept.
func (m *moduleHost) takesUpload(ctx context.Context, t resource.Target) error {
	entry, err := m.g.engine.Get(ctx, t, "")
	if err != nil {
		return err
	}
	data, err := t.Resource.View(ctx, entry, t.Version.Name)
	if err != nil {
		return err
	}
	var obj unstructured.Unstructured
	if err := obj.UnmarshalJSON(data); err != nil {
		return apierrors.NewInternalError(err)
	}
	if _, ok, _ := unstructured.NestedMap(obj.Object, "spec", "source", "upload"); !ok {
		return apierrors.NewConflict(t.Resource.GroupResource(), t.Name, errors.New("its spec.source is not upload; set spec.source to {upload: {}} first"))
	}
	return nil
}

const (
	// loadTimeout is how long the gateway waits at the start for modules that
	// served before; one that takes longer is served when it is there.
	loadTimeout = 30 * time.Second
	loadPoll    = 20 * time.Millisecond
)

// awaitLoaded waits until the modules that definitions convert with are loaded
// again, so that a gateway that is ready can convert.
func (m *moduleHost) awaitLoaded(ctx context.Context, objects module.Lister) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	wanted, err := objects.List(ctx, kinds.Modules, "")
	if err != nil {
		m.g.log.Error().Err(err).Msg("modules cannot be listed; not waiting for them")
		return
	}
	for _, w := range wanted {
		digest, _, _ := unstructured.NestedString(w.Object, "status", "digest")
		for digest != "" {
			if s, ok := m.registry.Status(w.GetName()); ok && (s.Ready() || s.Failure != nil) {
				break
			}
			sleep(ctx, loadPoll)
			if ctx.Err() != nil {
				m.g.log.Warn().Str("module", w.GetName()).Msg("module not loaded in time; going on without it")
				return
			}
		}
	}
}
