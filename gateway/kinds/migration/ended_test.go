package migration_test

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// That a migration is not there is no failure where it was deleted, and one where it is there
// all the same: then it is tried again.
func TestMigration_thatIsNotThere(t *testing.T) {
	for deleted, want := range map[bool]bool{true: false, false: true} {
		o := controllertest.WithCronTabs(t, 0)
		createMigration(t, o, nil)
		was := controllertest.MustGet(t, o, gvr.Migrations, "", migrationName)
		if deleted {
			if err := o.Delete(t.Context(), gvr.Migrations, "", migrationName, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		} else {
			o.Fail(func(op string, key controller.Key) error {
				if key.GroupResource == gvr.Migrations {
					return apierrors.NewNotFound(key.GroupResource, key.Name)
				}
				return nil
			})
		}
		r := newRewriter("v1", oldObjects(3))
		m := migration.New(&behind{o, was}, r, r)
		m.Hurry()
		if err := m.Reconcile(t.Context(), nil, controller.Key{Name: migrationName}); (err != nil) != want || err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("deleted: %v: %v", deleted, err)
		}
	}
}
