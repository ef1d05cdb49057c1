package write

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// telling is a store that tells when it was asked for a definition.
type telling struct {
	storage.Store
	asked chan struct{}
	once  sync.Once
}

func (s *telling) Get(ctx context.Context, key string) (storage.KV, error) {
	if strings.Contains(key, "/customresourcedefinitions/") {
		s.once.Do(func() { close(s.asked) })
	}
	return s.Store.Get(ctx, key)
}

// A gateway that has not heard yet of a definition which another one wrote answers
// nothing by the former one: what the store does not compare is made sure of before.
func TestNothingIsAnsweredByAFormerDefinition_CRD24(t *testing.T) {
	dry := resource.WriteOptions{DryRun: true}
	for name, ask := range map[string]func(w *world, at resource.Target) error{
		"a dry run of a creation": func(w *world, at resource.Target) error {
			_, err := w.Create(w.ctx(), at, []byte(tab(v1beta1, "two", "h", "1")), dry)
			return err
		},
		"a dry run of a deletion": func(w *world, at resource.Target) error {
			_, err := w.Delete(w.ctx(), at, &metav1.DeleteOptions{}, dry)
			return err
		},
		"a patch that changes nothing": func(w *world, at resource.Target) error {
			_, err := w.Patch(w.ctx(), at, types.MergePatchType, []byte(`{}`), resource.WriteOptions{})
			return err
		},
		"a refusal": func(w *world, at resource.Target) error {
			_, err := w.Create(w.ctx(), at, []byte(`{"apiVersion":"example.com/v1beta1","kind":"Other"}`), resource.WriteOptions{})
			return err
		},
		"a get": func(w *world, at resource.Target) error {
			_, err := w.Get(w.ctx(), at, "", encoding.At(v1beta1))
			return err
		},
		"a list": func(w *world, at resource.Target) error {
			at.Name = ""
			_, err := w.List(w.ctx(), at, &internalversion.ListOptions{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := storagetest.NewMemory()
			a := worldOver(t, store)
			a.create(a.at(v1beta1, ""), tab(v1beta1, "one", "h", "1"))
			telling := &telling{Store: store, asked: make(chan struct{})}
			b := worldOver(t, telling)
			at := b.at(v1beta1, "one")
			release := b.store.holdUp()
			defer release()
			a.define(v1beta1, false)
			told := make(chan error, 1)
			go func() { told <- ask(b, at) }()
			if name != "a get" && name != "a list" { // which wait for the cache
				select {
				case <-telling.asked:
				case err := <-told:
					t.Fatalf("told %v, without regard to the definition that is stored", err)
				}
			}
			release()
			if err := <-told; !errors.Is(err, catalog.ErrReplaced) {
				t.Errorf("told %v", err)
			}
		})
	}
}

// A watch that goes on at a revision begins under the definition in force.
func TestWatchesBeginUnderTheDefinitionInForce_CRD24(t *testing.T) {
	w := newWorld(t)
	old := w.at(v1beta1, "")
	w.define(v1beta1, false)
	options := &internalversion.ListOptions{ResourceVersion: w.create(w.builtin("configmaps", "default", ""), configMap("x", "y")).GetResourceVersion()}
	if _, err := w.Watch(w.ctx(), old, options); !errors.Is(err, catalog.ErrReplaced) {
		t.Errorf("it began: %v", err)
	}
}
