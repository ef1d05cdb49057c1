package load_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/load"
)

// sweptContents remembers what a sweep was told.
type sweptContents struct {
	used []string
	err  error
}

func (c *sweptContents) Digest(bytes []byte) string { return digest(string(bytes)) }

func (c *sweptContents) Sweep(ctx context.Context, referenced func(context.Context) (map[string]bool, error)) (int, error) {
	used, err := referenced(ctx)
	c.used = slices.Sorted(maps.Keys(used))
	return 0, errors.Join(err, c.err)
}

func TestCollector_everyReferenceCounts(t *testing.T) {
	o := controllertest.New()
	create := func(name string, annotations, spec, status map[string]any) {
		obj := map[string]any{"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule",
			"metadata": map[string]any{"name": name, "annotations": annotations}, "spec": spec}
		if status != nil {
			obj["status"] = status
		}
		controllertest.MustCreate(t, o, gvr.Modules, obj)
	}
	upload := map[string]any{"source": map[string]any{"upload": map[string]any{}}}
	create("uploaded", map[string]any{module.ContentAnnotation: "uploaded"}, upload, map[string]any{"digest": "serving"})
	create("pinned", nil, map[string]any{"source": map[string]any{"upload": map[string]any{"digest": "pinned"}}},
		map[string]any{"revisions": []any{map[string]any{"digest": "earlier"}, map[string]any{"digest": "earliest"}, "odd"}})
	create("kept", map[string]any{"wasmgate.dev/kept-revision": `{"digest":"kept"}`}, upload, nil)
	create("kept-now", map[string]any{"wasmgate.dev/kept-revision": `{"digest":"forged"}`}, upload,
		map[string]any{"acceptedRevision": "1", "keptConfiguration": map[string]any{"digest": "kept-now"}, "pulled": map[string]any{"digest": "pulled"}})
	create("odd", map[string]any{"wasmgate.dev/kept-revision": "?"}, map[string]any{"source": map[string]any{"inline": "?"}}, nil)
	create("inline", nil, inlineSpec("in"), nil)

	contents := &sweptContents{}
	c := load.NewCollector(o, contents)
	if err := c.Reconcile(t.Context(), nil, c.Seeds()[0]); err != nil {
		t.Fatal(err)
	}
	want := []string{"uploaded", "serving", "kept", "kept-now", "pulled", "pinned", "earlier", "earliest", digest("in")}
	slices.Sort(want)
	if !slices.Equal(contents.used, want) {
		t.Errorf("used %v, want %v", contents.used, want)
	}
	contents.err = errors.New("etcd is away")
	if err := c.Reconcile(t.Context(), nil, controller.Key{}); !errors.Is(err, contents.err) {
		t.Errorf("got %v", err)
	}
	if len(c.Seeds()) != 1 || c.Resync() <= 0 || c.Resync() >= module.ContentGrace || len(c.Watches()) != 0 {
		t.Error("it does not run by itself")
	}
}
