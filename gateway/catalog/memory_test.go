package catalog

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin"
	"github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// A catalog that runs keeps to the bound over the objects of all kinds.
func TestCatalogKeepsToItsMemory(t *testing.T) {
	const most = 64 << 10
	kinds, err := builtin.All(builtin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store := storagetest.NewMemory()
	c := New(Options{Store: store, Prefix: "/registry/", Builtins: append(kinds, definition.Definition()), Compile: catalogtest.Compile, ViewBytes: most,
		Convert: func(*crd.Definition) (conversion.Converter, error) { return nil, nil }})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	<-c.Ready()
	var rev int64
	for i := range 100 {
		data := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m%d","namespace":"default"},"data":{"a":%q}}`, i, bytes.Repeat([]byte("x"), 2000))
		if rev, err = store.Create(ctx, fmt.Sprintf("/registry/configmaps/default/m%d", i), data, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Cache().Wait(ctx, rev); err != nil {
		t.Fatal(err)
	}
	r := c.Snapshot().Resource(schema.GroupResource{Resource: "configmaps"})
	var all []*view.Entry
	c.eachEntry(func(e *view.Entry) {
		if bytes.Contains(e.Stored(), []byte("ConfigMap")) {
			all = append(all, e)
		}
	})
	if _, err := r.Objects(ctx, nil, all, encoding.At("v1")); err != nil || len(all) != 100 {
		t.Fatalf("%d objects: %v", len(all), err)
	}
	derived := func() (n int) {
		for _, e := range all {
			n += e.Size() - view.NewEntry(storage.KV{Value: e.Stored()}).Size()
		}
		return n
	}
	for late := time.Now().Add(time.Minute); c.ViewBytes() > most || derived() > most; {
		if time.Now().After(late) {
			t.Fatalf("%d bytes are held, %d are there", c.ViewBytes(), derived())
		}
	}
	cancel()
	<-ended
}
