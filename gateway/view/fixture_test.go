package view

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
)

const (
	v1      = catalogtest.V1
	v1beta1 = catalogtest.V1beta1
)

// shelf makes renderers, and counts what they do.
type shelf struct {
	t    testing.TB
	conv *catalogtest.Turning
	// spared is how many conversions readers were spared.
	spared   atomic.Int64
	memory   *Memory
	builtins []*crd.Definition
}

func newShelf(t testing.TB) *shelf {
	t.Helper()
	s := &shelf{t: t, conv: &catalogtest.Turning{}, builtins: catalogtest.Builtins(t)}
	s.memory = NewMemory(0, func(n int) { s.spared.Add(int64(n)) })
	return s
}

// defined is the renderer of a definition in YAML.
func (s *shelf) defined(text string) *Renderer {
	s.t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		s.t.Fatal(err)
	}
	def, err := catalogtest.Compile(data, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return New(def, s.conv, s.memory)
}

// cronTabs is the renderer of CronTabs that are stored at v1.
func (s *shelf) cronTabs() *Renderer {
	s.t.Helper()
	return s.defined(catalogtest.CronTab(v1, false))
}

func (s *shelf) builtin(group, plural string) *Renderer {
	s.t.Helper()
	for _, def := range s.builtins {
		if def.GroupResource() == (schema.GroupResource{Group: group, Resource: plural}) {
			return New(def, nil, s.memory)
		}
	}
	s.t.Fatalf("there are no %s", plural)
	return nil
}

func (s *shelf) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	s.t.Cleanup(cancel)
	return ctx
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

// bytesOf are the objects of entries at a version.
func (r *Renderer) bytesOf(ctx context.Context, entries []*Entry, version string) ([][]byte, error) {
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
func (r *Renderer) messagesOf(ctx context.Context, entries []*Entry) ([]encoding.Object, error) {
	return r.Objects(ctx, nil, entries, inProtobuf(r.Def.Versions[0].Name))
}

// metadataOf is the metadata of an entry.
func (r *Renderer) metadataOf(e *Entry) ([]byte, error) {
	o, err := r.Object(context.Background(), e, encoding.MetadataOnly())
	if err != nil {
		return nil, err
	}
	return o.Bytes(), nil
}

// holds replaces what e has of the store.
func (e *Entry) holds(stored []byte) {
	e.raw.Store(&stored)
}
