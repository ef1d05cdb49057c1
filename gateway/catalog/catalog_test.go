package catalog

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/storage"
)

func TestDefinitionsComeAndGo_RES10(t *testing.T) {
	s := newShelf(t)
	served := func() *Resource { return s.Snapshot().Resource(catalogtest.CronTabs) }
	if served() != nil {
		t.Fatal("served before it is defined")
	}
	if version, ok := s.Serving(catalogtest.CronTabs); ok || version != "" {
		t.Errorf("serving %q", version)
	}
	serial := s.Snapshot().Serial
	s.define(crdJSON(v1, false))
	first := served()
	if first == nil || first.Def.StorageVersion != v1 || first.Root() != "/registry/example.com/crontabs/" || first.Key("a", "b") != "/registry/example.com/crontabs/a/b" || s.Snapshot().Serial == serial {
		t.Fatalf("served %v", first)
	}
	last := s.Snapshot().Definitions[len(s.Snapshot().Definitions)-1]
	if last != first.Def || s.Defines(first) || !s.Defines(s.Snapshot().Resource(crdResource)) {
		t.Error("the definitions of the snapshot")
	}
	if version, ok := s.Serving(catalogtest.CronTabs); !ok || version != v1 {
		t.Errorf("serving %q, %v", version, ok)
	}
	// What does not matter changes nothing.
	serial = s.Snapshot().Serial
	s.define(bytes.Replace(crdJSON(v1, false), []byte(`"storedVersions":["v1"]`), []byte(`"storedVersions":["v1","v1beta1"]`), 1))
	if served() != first || s.Snapshot().Serial != serial {
		t.Error("another form for a change that does not matter")
	}
	s.define(crdJSON(v1beta1, true))
	second := served()
	if second == first || second.Def.StorageVersion != v1beta1 || !second.Def.Terminating {
		t.Errorf("served %v", second.Def)
	}
	select {
	case <-first.Replaced():
	default:
		t.Error("the first form is not told")
	}
	select {
	case <-second.Replaced():
		t.Error("the second form is told")
	default:
	}
	s.define(bytes.Replace(crdJSON(v1, false), []byte(`"status":"True","type":"Established"`), []byte(`"status":"False","type":"Established"`), 1))
	if served() != nil {
		t.Error("served without being established")
	}
	s.define(crdJSON(v1, false))
	s.undefine()
	if served() != nil {
		t.Error("served after its removal")
	}
}

// Watchers go on when a definition begins to go, and are told what happens until it has
// gone; another form ends them at once.
func TestWatchersSeeADefinitionOut(t *testing.T) {
	s := newShelf(t)
	resource := func() *Resource { return s.Snapshot().Resource(catalogtest.CronTabs) }
	shown := func(r *Resource) (over bool, until int64, err error) {
		select {
		case <-r.Shown():
			over = true
		default:
		}
		until, err = s.StillShown(t.Context(), r)
		return over, until, err
	}
	s.define(crdJSON(v1, false))
	first := resource()
	s.define(crdJSON(v1beta1, false))
	if over, until, err := shown(first); !over || until != 0 || !errors.Is(err, ErrReplaced) {
		t.Errorf("after another form: %v, until %d, %v", over, until, err)
	}
	second := resource()
	s.define(crdJSON(v1beta1, true))
	last := resource()
	if over, until, err := shown(second); last == second || over || until != 0 || err != nil || !errors.Is(second.Current(), ErrReplaced) {
		t.Errorf("while it goes: %v, until %d, %v", over, until, err)
	}
	gone := s.undefine()
	for _, r := range []*Resource{second, last} {
		if over, until, err := shown(r); !over || until != gone || err != nil {
			t.Errorf("when it has gone, at %d: %v, until %d, %v", gone, over, until, err)
		}
	}
}

func TestFind(t *testing.T) {
	s := newShelf(t, withCronTab)
	for _, c := range []struct {
		group, version, plural string
		found                  bool
	}{
		{"example.com", v1, "crontabs", true}, {"example.com", v1beta1, "crontabs", true}, {"", "v1", "namespaces", true},
		{"example.com", "v2", "crontabs", false}, {"example.com", v1, "tabs", false}, {"", v1, "crontabs", false},
	} {
		r, v := s.Snapshot().Find(c.group, c.version, c.plural)
		if (r != nil) != c.found || (v != nil) != c.found || c.found && (v.Name != c.version || r.GroupResource().Resource != c.plural) {
			t.Errorf("%v: %v %v", c, r, v)
		}
	}
	s.define(bytes.Replace(crdJSON(v1, false), []byte(`"name":"v1beta1","schema"`), []byte(`"name":"v1beta1","deprecated":true,"schema"`), 1))
	s.define(bytes.Replace(crdJSON(v1, false), []byte(`"served":true,"storage":false`), []byte(`"served":false,"storage":false`), 1))
	if r, v := s.Snapshot().Find("example.com", v1beta1, "crontabs"); r != nil || v != nil {
		t.Error("a version that is not served was found")
	}
	if r, _ := s.Snapshot().Find("example.com", v1, "crontabs"); r == nil {
		t.Error("the other version is gone with it")
	}
}

// A built-in kind is never shadowed by a definition.
func TestBuiltinsAreNotShadowed(t *testing.T) {
	s := newShelf(t)
	leases := schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	before := s.Snapshot().Resource(leases)
	text := strings.NewReplacer("example.com", leases.Group, "crontabs", leases.Resource, "CronTab", "Lease", "crontab", "lease").Replace(string(crdJSON(v1, false)))
	s.define([]byte(text))
	if s.Snapshot().Resource(leases) != before {
		t.Error("the built-in kind was replaced")
	}
	if n := len(s.Snapshot().Definitions); n == 0 || s.Snapshot().Definitions[n-1].UID != "" {
		t.Error("the definition is among those that are served")
	}
}

func TestWaitApplied(t *testing.T) {
	s := newShelf(t, withCronTab)
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan error, 1)
	kv, err := s.store.Get(t.Context(), crdKey)
	if err != nil {
		t.Fatal(err)
	}
	go func() { waited <- s.WaitApplied(ctx, kv.Revision+1) }()
	if err := s.WaitApplied(t.Context(), kv.Revision); err != nil {
		t.Error(err)
	}
	s.define(crdJSON(v1beta1, false))
	if err := <-waited; err != nil {
		t.Error(err)
	}
	go func() { waited <- s.WaitApplied(ctx, kv.Revision+1000) }()
	cancel()
	if err := <-waited; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A definition that cannot be read or compiled is not served; when it was, its
// last good form stays.
func TestBadDefinitions(t *testing.T) {
	bad := map[string]func([]byte) []byte{
		"no JSON": func([]byte) []byte { return []byte("x") },
		"no schema that compiles": func(good []byte) []byte {
			return bytes.Replace(good, []byte(`"port":{"maxLength":5,"type":"string"}`), []byte(`"port":{"items":{"$ref":"x"},"type":"array"}`), 1)
		},
	}
	for name, spoil := range bad {
		t.Run(name, func(t *testing.T) {
			s := newShelf(t, func(s storage.Store) {
				if _, err := s.Create(context.Background(), crdKey, spoil(crdJSON(v1, false)), 0); err != nil {
					t.Fatal(err)
				}
			})
			if s.Snapshot().Resource(catalogtest.CronTabs) != nil {
				t.Error("served")
			}
			s.define(crdJSON(v1, false))
			good := s.cronTabs()
			s.define(spoil(crdJSON(v1beta1, false)))
			if s.cronTabs() != good {
				t.Error("the last good form is gone")
			}
		})
	}
}

func TestBuckets(t *testing.T) {
	builtins := map[string]bool{"configmaps": true, "services/specs": true, "apiextensions.k8s.io/customresourcedefinitions": true}
	for key, want := range map[string]string{
		"configmaps/default/one":     "configmaps",
		"services/specs/default/one": "services/specs", "services/other/default/one": "", "services/specs": "",
		"example.com/crontabs/ns/name":                     "example.com/crontabs",
		"example.com/crontabs/name":                        "example.com/crontabs",
		"apiextensions.k8s.io/customresourcedefinitions/a": "apiextensions.k8s.io/customresourcedefinitions",
		"pods/default/one":                                 "", "configmaps": "", "example.com": "", "example.com/crontabs": "", "": "",
	} {
		if got := bucketOf(builtins, key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

// Objects of built-in kinds, whose keys have no group, are found.
func TestObjectsOfBuiltinsAreCached(t *testing.T) {
	s := newShelf(t, func(store storage.Store) {
		if _, err := store.Create(context.Background(), "/registry/configmaps/ns/a", []byte("{}"), 0); err != nil {
			t.Fatal(err)
		}
	})
	r := s.Snapshot().Resource(schema.GroupResource{Resource: "configmaps"})
	if _, ok := r.Bucket().Snapshot().Get("ns/a"); !ok {
		t.Error("the object is not there")
	}
}

// What expires by itself is not rewritten: it would live for ever.
func TestWhatExpiresIsNotRewritten_CRD32(t *testing.T) {
	s := newShelf(t)
	r, err := s.Resource(schema.GroupResource{Resource: "events"})
	if err != nil {
		t.Fatal(err)
	}
	old := storage.KV{Key: "/registry/events/ns/e", Value: []byte(`{"apiVersion":"v1","kind":"Event","metadata":{"name":"e"}}`), Revision: 7}
	if value, changed, err := r.Rewrite(t.Context(), old); changed || value != nil || err != nil {
		t.Errorf("got %s, %v, %v", value, changed, err)
	}
}

// A tree that has no JSON is not converted.
func TestConvertTreeRefusesWhatHasNoJSON(t *testing.T) {
	s := newShelf(t, withCronTab)
	out, err := s.cronTabs().ConvertTree(t.Context(), map[string]any{"spec": make(chan int)}, v1beta1)
	if err == nil || out != nil || s.conv.Calls.Load() != 0 {
		t.Errorf("got %v, %v, %d conversions", out, err, s.conv.Calls.Load())
	}
}

func TestRewrite_CRD32(t *testing.T) {
	s := newShelf(t, withCronTab)
	if r, err := s.Resource(schema.GroupResource{Resource: "nothing"}); r != nil || !apierrors.IsNotFound(err) {
		t.Errorf("nothing is %v, %v", r, err)
	}
	kv := storage.KV{Value: []byte(catalogtest.Tab(v1, "one", "h", "1")), Revision: 7}
	before := s.cronTabs()
	if _, changed, err := before.Rewrite(t.Context(), kv); changed || err != nil {
		t.Errorf("at its version already: %v, %v", changed, err)
	}
	for managed, want := range map[string]string{
		`[{"apiVersion":"example.com/v0","manager":"m"},{"apiVersion":"example.com/v1","manager":"n"}]`: `"managedFields":[{"apiVersion":"example.com/v1","manager":"n"}]`,
		`[{"apiVersion":"example.com/v0","manager":"m"}]`:                                               `"metadata":{"generation":1,"name":"one"}`,
		`[{"apiVersion":"example.org/v1","manager":"m"}]`:                                               `"metadata":{"generation":1,"name":"one"}`,
	} {
		with := storage.KV{Value: []byte(catalogtest.Tab(v1, "one", "h", "1", `"managedFields":`+managed)), Revision: 7}
		if value, changed, err := before.Rewrite(t.Context(), with); !changed || err != nil || !strings.Contains(string(value), want) {
			t.Errorf("%s: %s, %v, %v", managed, value, changed, err)
		}
	}
	kept := storage.KV{Value: []byte(catalogtest.Tab(v1, "one", "h", "1", `"managedFields":[{"apiVersion":"example.com/v1beta1","manager":"m"}]`)), Revision: 7}
	if _, changed, err := before.Rewrite(t.Context(), kept); changed || err != nil {
		t.Errorf("a manager at the other version: %v, %v", changed, err)
	}
	s.define(crdJSON(v1beta1, false))
	if _, _, err := before.Rewrite(t.Context(), kv); err == nil || !strings.Contains(err.Error(), "changed during the rewrite") {
		t.Errorf("under a former definition: %v", err)
	}
	value, changed, err := s.cronTabs().Rewrite(t.Context(), kv)
	if want := `{"apiVersion":"example.com/v1beta1","hostPort":"h:1","kind":"CronTab","metadata":{"generation":1,"name":"one"}}`; !changed || err != nil || strings.TrimSpace(string(value)) != want {
		t.Errorf("got %s, %v", value, err)
	}
	s.conv.BreakDown("broken")
	if _, changed, err := s.cronTabs().Rewrite(t.Context(), kv); changed || err == nil {
		t.Error("rewritten without a converter")
	}
	if _, changed, err := s.cronTabs().Rewrite(t.Context(), storage.KV{Value: []byte("x"), Revision: 1}); changed || err == nil {
		t.Error("an unreadable object was rewritten")
	}
}
