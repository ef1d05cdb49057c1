package catalog

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

const (
	v1      = catalogtest.V1
	v1beta1 = catalogtest.V1beta1
)

// shelf is a running catalog with a CronTab.
type shelf struct {
	*Catalog
	t     testing.TB
	store storage.Store
	conv  *catalogtest.Turning
	// spared is how many conversions readers were spared.
	spared atomic.Int64
}

// newShelf starts a catalog over a store that may have content already; put
// adds to it.
func newShelf(t testing.TB, put ...func(s storage.Store)) *shelf {
	t.Helper()
	s := &shelf{t: t, store: storagetest.NewMemory(), conv: &catalogtest.Turning{}}
	for _, p := range put {
		p(s.store)
	}
	s.Catalog = New(Options{
		Store: s.store, Prefix: "/registry/", Builtins: catalogtest.Builtins(t), Compile: catalogtest.Compile,
		Convert: func(*crd.Definition) (conversion.Converter, error) { return s.conv, nil },
		Spared:  func(n int) { s.spared.Add(int64(n)) },
	})
	catalogtest.Run(t, s)
	return s
}

func withCronTab(s storage.Store) {
	if _, err := s.Create(context.Background(), crdKey, crdJSON(v1, false), 0); err != nil {
		panic(err)
	}
}

const crdKey = "/registry/apiextensions.k8s.io/customresourcedefinitions/crontabs.example.com"

func crdJSON(storageVersion string, terminating bool) []byte {
	data, err := yaml.YAMLToJSON([]byte(catalogtest.CronTab(storageVersion, terminating)))
	if err != nil {
		panic(err)
	}
	return data
}

var crdResource = schema.GroupResource{Group: apiextensionsv1.GroupName, Resource: "customresourcedefinitions"}

// define stores the definition in a form and waits until it is taken over.
func (s *shelf) define(data []byte) {
	s.t.Helper()
	rev, err := s.store.Create(s.ctx(), crdKey, data, 0)
	if storage.KindOf(err) == storage.Exists {
		var kv storage.KV
		if kv, err = s.store.Get(s.ctx(), crdKey); err == nil {
			rev, err = s.store.Update(s.ctx(), crdKey, data, kv.Revision, 0)
		}
	}
	if err == nil {
		err = s.WaitApplied(s.ctx(), rev)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *shelf) undefine() (rev int64) {
	s.t.Helper()
	kv, err := s.store.Get(s.ctx(), crdKey)
	if err == nil {
		if rev, err = s.store.Delete(s.ctx(), crdKey, kv.Revision); err == nil {
			err = s.WaitApplied(s.ctx(), rev)
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return rev
}

func (s *shelf) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	s.t.Cleanup(cancel)
	return ctx
}

func (s *shelf) cronTabs() *Resource {
	s.t.Helper()
	r := s.Snapshot().Resource(catalogtest.CronTabs)
	if r == nil {
		s.t.Fatal("CronTabs are not served")
	}
	return r
}
