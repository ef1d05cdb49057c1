package write

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/plugin"
	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/read"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// Names of catalogtest that most tests use.
const (
	v1      = catalogtest.V1
	v1beta1 = catalogtest.V1beta1
)

var cronTabs, tab = catalogtest.CronTabs, catalogtest.Tab

// laggard is a store whose watches can be held up, so that the cache is behind.
type laggard struct {
	storage.Store
	held atomic.Pointer[chan struct{}]
}

func (l *laggard) Watch(ctx context.Context, prefix string, from int64) (<-chan storage.Batch, func() error) {
	in, reason := l.Store.Watch(ctx, prefix, from)
	out := make(chan storage.Batch)
	go func() {
		defer close(out)
		for b := range in {
			if h := l.held.Load(); h != nil {
				select {
				case <-*h:
				case <-ctx.Done():
				}
			}
			select {
			case out <- b:
			case <-ctx.Done():
			}
		}
	}()
	return out, reason
}

// holdUp keeps the cache where it is until the function it returns is called.
func (l *laggard) holdUp() (release func()) {
	h := make(chan struct{})
	l.held.Store(&h)
	return sync.OnceFunc(func() { l.held.Store(nil); close(h) })
}

// world is an engine over a store, with the built-in kinds and a CronTab.
type world struct {
	*read.Reader
	*Writer
	t     testing.TB
	store *laggard
	conv  *catalogtest.Turning
}

func newWorld(t testing.TB) *world { return worldOver(t, storagetest.NewMemory()) }

func worldOver(t testing.TB, s storage.Store) *world {
	t.Helper()
	w := &world{t: t, store: &laggard{Store: s}, conv: &catalogtest.Turning{}}
	served := catalog.New(catalog.Options{
		Store: w.store, Prefix: "/registry/", Builtins: catalogtest.Builtins(t), Compile: catalogtest.Compile,
		Convert: func(*crd.Definition) (conversion.Converter, error) { return conversion.Checked(w.conv), nil },
	})
	w.Reader = read.New(w.store, served, nil, false)
	w.Writer = New(Options{Store: w.store, Catalog: served, Admission: admission.Chain{Mutators: []admission.Mutator{plugin.NamespaceLifecycle{}}}}, w.Reader)
	catalogtest.Run(t, served)
	if w.catalog.Snapshot().Resource(cronTabs) != nil { // the store was used before
		return w
	}
	for _, ns := range []string{"default", "other"} {
		w.create(w.builtin("namespaces", "", ""), `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"`+ns+`"}}`)
	}
	w.define(v1, false)
	return w
}

// define writes the definition past admission, and waits until it is served.
func (w *world) define(storageVersion string, terminating bool) {
	w.t.Helper()
	w.defineText(catalogtest.CronTab(storageVersion, terminating))
}

// definition is its key in the store.
func (w *world) definition() string {
	gr := schema.GroupResource{Group: apiextensionsv1.GroupName, Resource: "customresourcedefinitions"}
	return w.catalog.Snapshot().Resource(gr).Key("", "crontabs.example.com")
}

func (w *world) defineText(text string) {
	w.t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		w.t.Fatal(err)
	}
	key := w.definition()
	var rev int64
	if kv, gerr := w.store.Get(w.ctx(), key); gerr == nil {
		rev, err = w.store.Update(w.ctx(), key, data, kv.Revision, 0)
	} else {
		rev, err = w.store.Create(w.ctx(), key, data, 0)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.wait(rev)
	if err := w.catalog.WaitApplied(w.ctx(), rev); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	w.t.Cleanup(cancel)
	return ctx
}

// wait waits until the cache has reached rev.
func (w *world) wait(rev int64) {
	w.t.Helper()
	if err := w.cache.Wait(w.ctx(), rev); err != nil {
		w.t.Fatal(err)
	}
}

// at is a target among the CronTabs of namespace default.
func (w *world) at(version, name string) resource.Target {
	r, v := w.catalog.Snapshot().Find("example.com", version, "crontabs")
	if r == nil {
		w.t.Fatalf("crontabs are not served at %s", version)
	}
	return resource.Target{Resource: r, Version: v, Namespace: "default", Name: name}
}

func (w *world) sub(name, subresource string) resource.Target {
	t := w.at(v1, name)
	t.Subresource = subresource
	return t
}

func (w *world) builtin(plural, namespace, name string) resource.Target {
	for _, group := range []string{"", "batch", "coordination.k8s.io", apiextensionsv1.GroupName} {
		if r, v := w.catalog.Snapshot().Find(group, "v1", plural); r != nil {
			return resource.Target{Resource: r, Version: v, Namespace: namespace, Name: name}
		}
	}
	w.t.Fatalf("%s are not served", plural)
	return resource.Target{}
}

func configMap(name, value string, more ...string) string {
	meta := append([]string{fmt.Sprintf(`"name":%q`, name)}, more...)
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{%s},"data":{"k":%q}}`, strings.Join(meta, ","), value)
}

// must parses the outcome of a write that has to succeed.
func (w *world) must(out *resource.Written, err error) *unstructured.Unstructured {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	if out.Deleted && out.Object == nil { // told by a Status
		return &unstructured.Unstructured{Object: map[string]any{}}
	}
	return w.parse(out.Object)
}

func (w *world) parse(data []byte) *unstructured.Unstructured {
	w.t.Helper()
	tree, _, err := object.Parse(data)
	if err != nil {
		w.t.Fatalf("%v: %s", err, data)
	}
	return &unstructured.Unstructured{Object: tree}
}

func (w *world) create(t resource.Target, body string) *unstructured.Unstructured {
	w.t.Helper()
	return w.must(w.Create(w.ctx(), t, []byte(body), resource.WriteOptions{}))
}

// entry is a state that a consistent read finds.
func (w *world) entry(ctx context.Context, t resource.Target) (*view.Entry, error) {
	if _, err := w.cache.Fresh(ctx); err != nil {
		return nil, err
	}
	return w.State(ctx, t, false)
}

// read is a consistent read.
func (w *world) read(t resource.Target) *unstructured.Unstructured {
	w.t.Helper()
	e, err := w.entry(w.ctx(), t)
	if err != nil {
		w.t.Fatal(err)
	}
	data, err := t.Resource.View(w.ctx(), e, t.Version.Name)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.parse(data)
}

// entryOf is an entry that nobody has derived anything from.
func entryOf(kv storage.KV) *view.Entry { return view.NewEntry(kv) }

func nestedInt(tree map[string]any, path ...string) (int64, bool, error) {
	return unstructured.NestedInt64(tree, path...)
}

// raw is what the store holds.
func (w *world) raw(t resource.Target) storage.KV {
	w.t.Helper()
	kv, err := w.store.Get(w.ctx(), t.Resource.Key(t.Namespace, t.Name))
	if err != nil {
		w.t.Fatal(err)
	}
	return kv
}

func (w *world) revision() int64 {
	w.t.Helper()
	rev, err := w.store.Revision(w.ctx())
	if err != nil {
		w.t.Fatal(err)
	}
	return rev
}

// refused checks a status error: its code, its reason and a part of its message.
func refused(t testing.TB, err error, code int32, reason, message string) {
	t.Helper()
	var s apierrors.APIStatus
	if !errors.As(err, &s) {
		t.Fatalf("got error %v, want a status with code %d", err, code)
	}
	if got := s.Status(); got.Code != code || string(got.Reason) != reason || !strings.Contains(got.Message, message) {
		t.Fatalf("got %d %q %q, want %d %q %q", got.Code, got.Reason, got.Message, code, reason, message)
	}
}

// bytesOf are the objects of entries in an encoding.
func bytesOf(ctx context.Context, r *catalog.Resource, entries []*view.Entry, in encoding.Encoding) ([][]byte, error) {
	all, err := r.Objects(ctx, nil, entries, in)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(all))
	for i, o := range all {
		out[i] = o.Bytes()
	}
	return out, nil
}

// listed is a list with its items in an encoding.
type listed struct {
	*resource.List
	Items [][]byte
}

// deleteAll deletes a collection and returns what its reply would be made of.
func (w *world) deleteAll(t resource.Target, list *internalversion.ListOptions, o *metav1.DeleteOptions, wo resource.WriteOptions, in encoding.Encoding) (out *listed, err error) {
	err = w.DeleteCollection(w.ctx(), t, list, o, wo, func(l *resource.List) (err error) {
		out = &listed{List: l}
		out.Items, err = bytesOf(w.ctx(), t.Resource, l.Entries, in)
		return err
	})
	return out, err
}

// put stores bytes where a CronTab of the default namespace would be, and waits
// until the cache has them. It returns the revision.
func (w *world) put(name, data string) int64 {
	w.t.Helper()
	key := w.at(v1, "").Resource.Key("default", name)
	kv, err := w.store.Get(w.ctx(), key)
	var rev int64
	if err == nil {
		rev, err = w.store.Update(w.ctx(), key, []byte(data), kv.Revision, 0)
	} else {
		rev, err = w.store.Create(w.ctx(), key, []byte(data), 0)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.wait(rev)
	return rev
}

func (w *world) watch(t resource.Target, o internalversion.ListOptions) *read.Watch {
	w.t.Helper()
	o.Watch = true
	out, err := w.Watch(w.ctx(), t, &o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(out.Stop)
	return out
}

// follow reads n changes of a watch at a version.
func follow(ctx context.Context, w *read.Watch, r *catalog.Resource, version string, n int) (out []string, err error) {
	for len(out) < n {
		select {
		case <-w.Wait():
		case <-ctx.Done():
			return out, ctx.Err()
		}
		changes, _, err := w.Next(ctx)
		if err != nil {
			return out, err
		}
		entries := make([]*view.Entry, len(changes))
		for i, c := range changes {
			entries[i] = c.Entry
		}
		objects, err := bytesOf(ctx, r, entries, encoding.At(version))
		if err != nil {
			return out, err
		}
		for i, c := range changes {
			out = append(out, string(c.Type)+" "+string(objects[i]))
		}
	}
	return out, nil
}
