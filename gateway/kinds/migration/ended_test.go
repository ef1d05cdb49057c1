package migration_test

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/migration"
)

// behind is a cache that is behind once.
type behind struct {
	*controllertest.Objects
	was *unstructured.Unstructured
}

func (b *behind) Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error) {
	if was := b.was; was != nil && gr == gvr.Migrations {
		b.was = nil
		return was, nil
	}
	return b.Objects.Get(ctx, gr, namespace, name)
}

// A migration that has ended, of which the cache does not know yet, is no failure that
// is tried again and told of.
func TestMigration_itsEndIsNoFailure(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	r := newRewriter("v1", oldObjects(3))
	createMigration(t, o, nil)
	was := controllertest.MustGet(t, o, gvr.Migrations, "", migrationName)
	stop := startMigration(t, o, r)
	migrationIs(t, o, "Succeeded")
	stop()
	m := migration.New(&behind{o, was}, r, r)
	if err := m.Reconcile(t.Context(), nil, controller.Key{Name: migrationName}); err != nil {
		t.Errorf("got %v", err)
	}
}
