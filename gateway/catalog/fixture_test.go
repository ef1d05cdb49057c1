package catalog

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
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

func (s *shelf) undefine() {
	s.t.Helper()
	kv, err := s.store.Get(s.ctx(), crdKey)
	if err == nil {
		var rev int64
		if rev, err = s.store.Delete(s.ctx(), crdKey, kv.Revision); err == nil {
			err = s.WaitApplied(s.ctx(), rev)
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *shelf) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
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

// entry is a CronTab as the cache would have it.
func entry(version, name string, revision int64, more ...string) *Entry {
	more = append([]string{`"generation":1`}, more...)
	return NewEntry(storage.KV{Value: []byte(catalogtest.Tab(version, name, "h", fmt.Sprint(revision), more...)), Revision: revision})
}

// inProtobuf is whole objects in protobuf.
func inProtobuf(version string) encoding.Encoding {
	return encoding.Encoding{Version: version, Media: encoding.Protobuf}
}

// metadataInProtobuf is metadata in protobuf.
func metadataInProtobuf() encoding.Encoding {
	return encoding.Encoding{Version: "v1", Form: encoding.Metadata, Media: encoding.Protobuf}
}

// asOf is a key at a version, of no definition.
func asOf(version string) viewKey { return viewKey{Encoding: encoding.At(version)} }

// bytesOf are the objects of entries at a version.
func (r *Resource) bytesOf(ctx context.Context, entries []*Entry, version string) ([][]byte, error) {
	all, err := r.Objects(ctx, nil, entries, encoding.At(version))
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(all))
	for i, o := range all {
		out[i] = o.Bytes()
	}
	return out, nil
}

// messagesOf are the same in protobuf, at the first version.
func (r *Resource) messagesOf(ctx context.Context, entries []*Entry) ([]encoding.Object, error) {
	return r.Objects(ctx, nil, entries, inProtobuf(r.Def.Versions[0].Name))
}

// metadataOf is the metadata of an entry.
func (r *Resource) metadataOf(e *Entry) ([]byte, error) {
	o, err := r.Object(context.Background(), e, encoding.MetadataOnly())
	if err != nil {
		return nil, err
	}
	return o.Bytes(), nil
}
