package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// defined is a catalog over a store of definitions, whose compiler does what
// spec.scope of a definition says, and that serves the storage version that
// spec.names.kind says.
type defined struct {
	*Catalog
	t     *testing.T
	store *storagetest.Memory
	ended chan error
}

func compileAsTold(stored []byte, _ *crd.Definition) (*crd.Definition, error) {
	tree, _, err := object.ParseObject(stored)
	if err != nil {
		return nil, err
	}
	spec, _ := tree["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	meta, _ := tree["metadata"].(map[string]any)
	switch spec["scope"] {
	case "panic":
		panic("this one is too much")
	case "fail":
		return nil, errors.New("this one does not compile")
	case "nothing":
		return nil, nil
	}
	plural, _ := names["plural"].(string)
	group, _ := spec["group"].(string)
	return &crd.Definition{
		Group: group, Plural: plural, Kind: "K", StorageVersion: fmt.Sprint(names["kind"]), UID: "u",
		KeyPrefix: group + "/" + plural, Terminating: meta["deletionTimestamp"] != nil,
	}, nil
}

// convertAsNamed panics or fails for definitions that are named so.
func convertAsNamed(d *crd.Definition) (conversion.Converter, error) {
	switch d.StorageVersion {
	case "panic":
		panic("no converter like that")
	case "fail":
		return nil, errors.New("no such converter")
	}
	return nil, nil
}

func startCatalog(t *testing.T, store *storagetest.Memory) *defined {
	t.Helper()
	d := &defined{t: t, store: store, ended: make(chan error, 1), Catalog: New(Options{
		Store: store, Prefix: "/registry/", Builtins: []*crd.Definition{definition.Definition()},
		Compile: compileAsTold, Convert: convertAsNamed, Log: zerolog.Nop(),
	})}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { d.ended <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-d.ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("run: %v", err)
		}
	})
	select {
	case <-d.Ready():
	case <-time.After(time.Minute):
		t.Fatal("not ready")
	}
	return d
}

func definitionKey(plural string) string {
	return "/registry/apiextensions.k8s.io/customresourcedefinitions/" + plural + ".example.com"
}

// stored is a definition; meta are more fields of its metadata, and the last
// argument is what the compiler is told to do, with the storage version after " at ", or
// "serve" and the storage version.
func stored(plural, meta, do string) []byte {
	scope, kind := do, ""
	if version, ok := strings.CutPrefix(do, "serve "); ok {
		scope, kind = "Cluster", version
	}
	what, at, _ := strings.Cut(scope, " at ")
	scope = what
	return fmt.Appendf(nil, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%s.example.com"%s},"spec":{"group":"example.com","names":{"plural":%q,"kind":%q},"scope":%q,"versions":[{"name":"v0"},{"name":%q,"storage":%t}]}}`,
		plural, meta, plural, kind, scope, at, at != "")
}

// put stores a definition and waits until the catalog has seen it. It returns
// its revision.
func (d *defined) put(plural, meta, do string) int64 {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	key := definitionKey(plural)
	kv, err := d.store.Get(ctx, key)
	var rev int64
	if err == nil {
		rev, err = d.store.Update(ctx, key, stored(plural, meta, do), kv.Revision, 0)
	} else {
		rev, err = d.store.Create(ctx, key, stored(plural, meta, do), 0)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.WaitApplied(ctx, rev); err != nil {
		d.t.Fatal(err)
	}
	return rev
}

// drop deletes a definition and waits until the catalog has seen it.
func (d *defined) drop(plural string) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	kv, err := d.store.Get(ctx, definitionKey(plural))
	if err != nil {
		d.t.Fatal(err)
	}
	rev, err := d.store.Delete(ctx, definitionKey(plural), kv.Revision)
	if err == nil {
		err = d.WaitApplied(ctx, rev)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *defined) served(plural string) *Resource {
	return d.Snapshot().Resource(schema.GroupResource{Group: "example.com", Resource: plural})
}

// writable tells whether an object of r can be created now.
func (d *defined) writable(r *Resource, name string) error {
	_, err := r.Writer(d.store).Create(d.t.Context(), r.Key("", name), []byte("{}"), 0)
	return err
}

// One definition that the compiler or a converter cannot bear, stored before
// the start or written later, takes neither the gateway nor the others along.
func TestDefinitionThatPanics(t *testing.T) {
	store := storagetest.NewMemory()
	for _, plural := range []string{"bad", "worse"} {
		spec := map[string]string{"bad": "panic", "worse": "serve panic"}[plural]
		if _, err := store.Create(t.Context(), definitionKey(plural), stored(plural, "", spec), 0); err != nil {
			t.Fatal(err)
		}
	}
	d := startCatalog(t, store)
	d.put("good", "", "serve v1")
	if d.served("good") == nil || d.served("bad") != nil || d.served("worse") != nil {
		t.Fatal("not the good one, or others, are served")
	}
	before := d.served("good")
	for name, spec := range map[string]string{
		"compiler panics": "panic", "compiler fails": "fail",
		"converter panics": "serve panic", "converter fails": "serve fail",
	} {
		d.put("good", "", spec)
		if d.served("good") != before || before.Current() != nil {
			t.Errorf("%s: the last good form does not stay", name)
		}
		if err := d.writable(before, name); err != nil {
			t.Errorf("%s: the last good form takes no writes: %v", name, err)
		}
	}
	d.put("bad", "", "serve v1")
	if d.served("bad") == nil {
		t.Error("a definition that was mended is not served")
	}
}

// Where a definition that cannot be served may store objects at another version, nothing is
// written at the former one.
func TestNothingIsWrittenAtAFormerStorageVersion(t *testing.T) {
	d := startCatalog(t, storagetest.NewMemory())
	d.put("tabs", "", "serve v1")
	for i, c := range []struct {
		do, meta string
		takes    bool
	}{
		{"fail at v1", "", true}, {"fail at v2", "", false}, {"panic at v2", "", false}, {"fail at v1", "", true}, {"fail", `,"broken`, false}, {"fail at v1", "", true},
	} {
		d.put("tabs", c.meta, c.do)
		now := d.served("tabs")
		if now == nil || now.Def.StorageVersion != "v1" {
			t.Fatalf("%s: served is %v", c.do, now)
		}
		if err := d.writable(now, fmt.Sprint(i)); (err == nil) != c.takes || err != nil && storage.KindOf(err) != storage.Changed {
			t.Errorf("%d: %s%s: a write says %v", i, c.do, c.meta, err)
		}
		// Who was refused is told so at once, as long as nothing is served that takes it.
		_, since := now.Definition()
		if c.takes {
			since-- // what it was when it was refused
		}
		if err := d.AwaitRedefined(t.Context(), now, since, false); (err == nil) != c.takes || err != nil && !apierrors.IsServiceUnavailable(err) {
			t.Errorf("%d: %s%s: who was refused is told %v", i, c.do, c.meta, err)
		}
	}
	d.put("tabs", "", "serve v2")
	if now := d.served("tabs"); now.Def.StorageVersion != "v2" || d.writable(now, "new") != nil {
		t.Error("what was mended takes no writes")
	}
}

// One that is being deleted lets its objects go, whatever else is stored of it.
func TestWhatIsDeletedLetsItsObjectsGo(t *testing.T) {
	d := startCatalog(t, storagetest.NewMemory())
	d.put("tabs", "", "serve v1")
	d.put("tabs", "", "fail at v2")
	const deleted = `,"deletionTimestamp":"2026-01-01T00:00:00Z"`
	for i, meta := range []string{deleted, deleted + `,"annotations":{"a":"b"}`} {
		d.put("tabs", meta, "fail at v2")
		if now := d.served("tabs"); now == nil || !now.Def.Terminating || d.writable(now, fmt.Sprint(i)) != nil {
			t.Errorf("%d: served is %v", i, now)
		}
	}
}

// A definition that is being deleted takes no new objects, whether or not what
// else changed can be served.
func TestBadDefinitionBeingDeleted(t *testing.T) {
	d := startCatalog(t, storagetest.NewMemory())
	d.put("tabs", "", "serve v1")
	before := d.served("tabs")
	d.put("tabs", `,"deletionTimestamp":null`, "fail")
	if d.served("tabs") != before {
		t.Error("a deletionTimestamp of null is one")
	}
	rev := d.put("tabs", `,"deletionTimestamp":"2026-01-01T00:00:00Z"`, "fail")
	now := d.served("tabs")
	if now == before || now == nil || !now.Def.Terminating || before.Def.Terminating || now.Def.StorageVersion != "v1" {
		t.Fatalf("served: %+v", now)
	}
	if before.Current() == nil || d.AwaitRedefined(t.Context(), before, rev, false) != ErrReplaced {
		t.Error("the form before is not replaced")
	}
	if err := d.writable(now, "x"); err != nil {
		t.Error(err)
	}
	d.put("tabs", `,"deletionTimestamp":"2026-01-01T00:00:00Z","labels":{"a":"b"}`, "fail")
	if d.served("tabs") != now {
		t.Error("another form for nothing")
	}
}

// What commits follows the definition that is stored, not the one that the
// writer knew.
func TestWriterComparesTheDefinition_CRD24(t *testing.T) {
	d := startCatalog(t, storagetest.NewMemory())
	first := d.put("tabs", "", "serve v1")
	r := d.served("tabs")
	early := r.Writer(d.store)
	second := d.put("tabs", `,"labels":{"a":"b"}`, "serve v1")
	if d.served("tabs") != r {
		t.Fatal("a label makes another form")
	}
	_, err := early.Create(t.Context(), r.Key("", "early"), []byte("{}"), 0)
	if storage.KindOf(err) != storage.Changed {
		t.Errorf("under revision %d: %v", first, err)
	}
	if err := d.AwaitRedefined(t.Context(), r, first, false); err != nil {
		t.Error(err)
	}
	if err := d.writable(r, "same"); err != nil {
		t.Errorf("under revision %d: %v", second, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.AwaitRedefined(ctx, r, second, false); err == nil {
		t.Error("nothing changed after the second revision")
	}
	d.put("tabs", "", "serve v2")
	if err := d.writable(r, "late"); storage.KindOf(err) != storage.Changed {
		t.Errorf("under the former form: %v", err)
	}
	if v, ok := d.Serving(r.GroupResource()); v != "v2" || !ok {
		t.Errorf("serving %s, %v", v, ok)
	}
	d.put("tabs", "", "nothing")
	if v, ok := d.Serving(r.GroupResource()); ok || v != "" {
		t.Errorf("serving %s", v)
	}
}

// Two definitions whose fingerprints fail are not the same.
// What changes nothing that is served is no change of what is served.
func TestServingStaysWhileNothingChanges(t *testing.T) {
	d := startCatalog(t, storagetest.NewMemory())
	d.put("tabs", "", "serve v1")
	serial := d.Snapshot().Serial
	d.put("tabs", `,"labels":{"a":"b"}`, "serve v1")
	d.put("bad", "", "fail")
	d.put("bad", "", "nothing")
	d.put("tabs", "", "fail")
	d.drop("bad")
	if now := d.Snapshot().Serial; now != serial {
		t.Errorf("it was published anew, %d after %d", now, serial)
	}
	d.drop("tabs")
	if d.Snapshot().Serial == serial || d.served("tabs") != nil {
		t.Error("a definition that is gone is served")
	}
}

func TestAllDefinitionsAreServedInOrder(t *testing.T) {
	store := storagetest.NewMemory()
	for _, plural := range []string{"tabs", "apps", "jobs"} {
		if _, err := store.Create(t.Context(), definitionKey(plural), stored(plural, "", "serve v1"), 0); err != nil {
			t.Fatal(err)
		}
	}
	// One of another group whose plural comes first, and one that the built-in
	// kind is in the way of.
	other := strings.ReplaceAll(string(stored("aaa", "", "serve v1")), "example.com", "example.org")
	store.Apply(storage.Event{KV: storage.KV{Key: "/registry/apiextensions.k8s.io/customresourcedefinitions/aaa.example.org", Value: []byte(other)}})
	shadowed := strings.ReplaceAll(string(stored("customresourcedefinitions", "", "serve v1")), "example.com", "apiextensions.k8s.io")
	store.Apply(storage.Event{KV: storage.KV{Key: "/registry/apiextensions.k8s.io/customresourcedefinitions/customresourcedefinitions.apiextensions.k8s.io", Value: []byte(shadowed)}})
	d := startCatalog(t, store)
	var got []string
	for _, def := range d.Snapshot().Definitions {
		got = append(got, def.GroupResource().String())
	}
	want := "customresourcedefinitions.apiextensions.k8s.io apps.example.com jobs.example.com tabs.example.com aaa.example.org"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
}

// When the history of the definitions is gone, the catalog starts over from
// what is stored.
func TestDefinitionsOverAGapOfTheHistory_RES10(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.NewMemory()
		d := startCatalog(t, store)
		for _, plural := range []string{"stays", "goes", "changes"} {
			d.put(plural, "", "serve v1")
		}
		stays := d.served("stays")
		for range 2 {
			store.Down(errors.New("away"))
			synctest.Wait()
			if d.Cache().Healthy() == nil {
				t.Error("healthy without a store")
			}
			store.Apply(storage.Event{Deleted: true, KV: storage.KV{Key: definitionKey("goes")}})
			store.Apply(storage.Event{KV: storage.KV{Key: definitionKey("changes"), Value: stored("changes", "", "serve v2")}})
			rev := store.Apply(storage.Event{KV: storage.KV{Key: definitionKey("comes"), Value: stored("comes", "", "serve v1")}})
			if err := store.Compact(t.Context(), rev); err != nil {
				t.Fatal(err)
			}
			store.Down(nil)
			if err := d.WaitApplied(t.Context(), rev); err != nil {
				t.Fatal(err)
			}
			if d.served("comes") == nil || d.served("goes") != nil || d.served("changes").Def.StorageVersion != "v2" || d.served("stays") != stays {
				t.Error("what is served is not what is stored")
			}
			d.put("goes", "", "serve v1")
			d.put("changes", "", "serve v1")
			d.drop("comes")
		}
	})
}

func TestFingerprintSaysWhatIsCompiledDifferently(t *testing.T) {
	for _, broken := range []string{`{"metadata":{"uid":1}}`, `{"status":{"conditions":{}}}`} {
		if print, err := newFingerprint([]byte(broken)); err == nil {
			t.Errorf("%s: %x", broken, print)
		}
	}
	a, errA := newFingerprint([]byte(`{"spec":{"a":"b"},"metadata":{"labels":{"x":"y"},"uid":"u"}}`))
	b, errB := newFingerprint([]byte(`{"spec":{"a":"b"},"metadata":{"uid":"u"},"status":{"conditions":[],"storedVersions":["v1"]}}`))
	if errA != nil || errB != nil || a != b {
		t.Errorf("%x, %x, %v, %v", a, b, errA, errB)
	}
	for _, other := range []string{
		`{"spec":{"a":"c"},"metadata":{"uid":"u"}}`,
		`{"spec":{"a":"b"},"metadata":{"uid":"v"}}`,
		`{"spec":{"a":"b"},"metadata":{"uid":"u","deletionTimestamp":"t"}}`,
		`{"spec":{"a":"b"},"metadata":{"uid":"u","annotations":{"` + crd.UnconvertibleAnnotation + `":"Omit"}}}`,
		`{"spec":{"a":"b"},"metadata":{"uid":"u"},"status":{"acceptedNames":{"plural":"n"}}}`,
		`{"spec":{"a":"b"},"metadata":{"uid":"u"},"status":{"conditions":[{"type":"Established","status":"True"}]}}`,
	} {
		if c, err := newFingerprint([]byte(other)); err != nil || c == a {
			t.Errorf("%v has the fingerprint of another: %v", other, err)
		}
	}
}

// The compiler is told what is served, so that it need not compile that again.
func TestTheCompilerIsToldWhatIsServed(t *testing.T) {
	store := storagetest.NewMemory()
	told := make(chan *crd.Definition, 8)
	c := New(Options{
		Store: store, Prefix: "/registry/", Builtins: []*crd.Definition{definition.Definition()}, Log: zerolog.Nop(),
		Convert: convertAsNamed,
		Compile: func(stored []byte, previous *crd.Definition) (*crd.Definition, error) {
			told <- previous
			return compileAsTold(stored, previous)
		},
	})
	for i, version := range []string{"v1", "v2"} {
		c.update("as.example.com", view.NewEntry(storage.KV{Value: stored("as", "", "serve "+version), Revision: int64(i + 1)}))
		if previous := <-told; i == 0 && previous != nil || i == 1 && (previous == nil || previous.StorageVersion != "v1") {
			t.Errorf("%s: told of %v", version, previous)
		}
	}
	c.update("as.example.com", view.NewEntry(storage.KV{Value: stored("as", `,"labels":{"a":"b"}`, "serve v2"), Revision: 3}))
	if len(told) != 0 {
		t.Error("what did not change was compiled again")
	}
}

// While the catalog is behind, a resource is in force if the cache shows the definition that
// it was made of, and has to be waited for if that is another, or gone.
func TestWhatIsInForceWhileTheCatalogIsBehind_CRD24(t *testing.T) {
	d := startCatalog(t, storagetest.NewMemory())
	d.put("good", "", "serve v1")
	r := d.served("good")
	late, cancel := context.WithCancel(t.Context())
	cancel()
	d.applied.Store(0)
	if err := d.InForce(late, r); err != nil {
		t.Errorf("as it is shown: %v", err)
	}
	r.definedAt.Add(-1)
	if err := d.InForce(late, r); !apierrors.IsTimeout(err) {
		t.Errorf("another is shown: %v", err)
	}
}
