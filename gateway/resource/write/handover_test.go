package write

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
)

// conversions is how often the converter is called by fn.
func (w *world) conversions(fn func()) int64 {
	w.t.Helper()
	before := w.conv.Calls.Load()
	fn()
	return w.conv.Calls.Load() - before
}

// pass waits until the cache has done all that a revision which it shows brings along: what
// a writer hands over later than the event arrives is taken over before the next one.
func (w *world) pass(name string) {
	w.t.Helper()
	key := strings.Replace(w.at(v1, "").Resource.Key("default", name), "crontabs", "nothings", 1)
	rev, err := w.store.Create(w.ctx(), key, []byte("{}"), 0)
	if err != nil {
		w.t.Fatal(err)
	}
	w.wait(rev)
}

// After a write at any version nobody converts what the writer had to convert:
// neither at the version of the request nor at that of the store, neither a
// read nor a list nor a watch. And every reader gets the bytes of the reply.
func TestNoConversionAfterAWrite_CRD11(t *testing.T) {
	w := newWorld(t)
	start := fmt.Sprint(w.revision())
	writes := []struct {
		what   string
		calls  int64
		do     func() (*resource.Written, error)
		at     string
		events int
	}{
		{"create at the other version", 2, func() (*resource.Written, error) {
			return w.Create(w.ctx(), w.at(v1beta1, ""), []byte(tab(v1beta1, "one", "h", "1")), resource.WriteOptions{})
		}, v1beta1, 1},
		{"merge patch at the other version", 2, func() (*resource.Written, error) {
			return w.Patch(w.ctx(), w.at(v1beta1, "one"), types.MergePatchType, []byte(`{"hostPort":"h:2"}`), resource.WriteOptions{})
		}, v1beta1, 2},
		{"JSON patch at the other version", 2, func() (*resource.Written, error) {
			return w.Patch(w.ctx(), w.at(v1beta1, "one"), types.JSONPatchType, []byte(`[{"op":"replace","path":"/hostPort","value":"h:3"}]`), resource.WriteOptions{})
		}, v1beta1, 3},
		{"a patch that changes nothing", 1, func() (*resource.Written, error) {
			return w.Patch(w.ctx(), w.at(v1beta1, "one"), types.MergePatchType, []byte(`{"hostPort":"h:3"}`), resource.WriteOptions{})
		}, v1beta1, 3},
		{"patch at the stored version, of what is owned at the other", 1, func() (*resource.Written, error) {
			return w.Patch(w.ctx(), w.at(v1, "one"), types.MergePatchType, []byte(`{"port":"4"}`), resource.WriteOptions{})
		}, v1, 4},
	}
	for i, c := range writes {
		var out *resource.Written
		var err error
		if n := w.conversions(func() { out, err = c.do() }); err != nil || n != c.calls {
			t.Fatalf("%s: %d calls of the converter, want %d (%v)", c.what, n, c.calls, err)
		}
		w.wait(w.revision())
		w.pass(fmt.Sprint("after", i))
		shown := map[string][]byte{}
		n := w.conversions(func() {
			for _, version := range []string{v1, v1beta1} {
				e, err := w.entry(w.ctx(), w.at(version, "one"))
				if err != nil {
					t.Fatal(err)
				}
				data, err := w.at(version, "").Resource.View(w.ctx(), e, version)
				if err != nil || version == c.at && !bytes.Equal(data, out.Object) {
					t.Errorf("%s, read at %s: %s, %v; the reply was %s", c.what, version, data, err, out.Object)
				}
				shown[version] = data
				l, err := w.List(w.ctx(), w.at(version, ""), &internalversion.ListOptions{})
				if err != nil || len(l.Entries) != 1 {
					t.Fatal(l, err)
				}
			}
		})
		if n != 0 {
			t.Errorf("%s: the readers called the converter %d times", c.what, n)
		}
		for version, data := range shown { // and it is what they would have been given
			fresh, err := w.at(version, "").Resource.View(w.ctx(), view.NewEntry(w.raw(w.at(v1, "one"))), version)
			if err != nil || !bytes.Equal(fresh, data) {
				t.Errorf("%s, at %s: %s, converted again it is %s, %v", c.what, version, data, fresh, err)
			}
		}
	}
	watchesWithoutConverting(t, w, start)
}

// watchesWithoutConverting shows that a watch sends what writes left.
func watchesWithoutConverting(t *testing.T, w *world, start string) {
	t.Helper()
	// A watch that reads the past at the other version meets what the writers
	// left.
	watch, err := w.Watch(w.ctx(), w.at(v1beta1, ""), &internalversion.ListOptions{ResourceVersion: start})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	n := w.conversions(func() {
		events, err := follow(w.ctx(), watch, w.at(v1beta1, "").Resource, v1beta1, 4)
		if err != nil || !strings.HasPrefix(events[0], "ADDED") || !strings.Contains(events[2], `"hostPort":"h:3"`) || !strings.Contains(events[3], `"hostPort":"h:4"`) {
			t.Errorf("got %q, %v", events, err)
		}
	})
	if n != 0 {
		t.Errorf("the watch called the converter %d times", n)
	}
}

// A reply is what a read returns, whatever the write was and however the kind
// is stored: same bytes.
func TestRepliesAreWhatReadsReturn(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		target resource.Target
		body   string
	}{
		{w.at(v1, "one"), tab(v1, "one", "h", "1", `"labels":{"a":"b"}`)},
		{w.at(v1beta1, "two"), tab(v1beta1, "two", "h", "1", `"annotations":{"a":"<&>"}`)},
		{w.builtin("configmaps", "default", "one"), configMap("one", "x")},
		{w.builtin("namespaces", "", "new"), `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"new"}}`},
		{w.builtin("customresourcedefinitions", "", "things.example.org"), `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.example.org"},
			"spec":{"group":"example.org","scope":"Cluster","names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`},
	} {
		all := c.target
		all.Name = ""
		same := func(out *resource.Written, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			e, err := w.entry(w.ctx(), c.target)
			if err != nil {
				t.Fatal(err)
			}
			seen, err := c.target.Resource.View(w.ctx(), e, c.target.Version.Name)
			if err != nil || !bytes.Equal(out.Object, seen) {
				t.Errorf("the reply is\n%s\nthe cache has\n%s\n%v", out.Object, seen, err)
			}
			kv := w.raw(c.target)
			read, err := c.target.Resource.View(w.ctx(), entryOf(kv), c.target.Version.Name)
			if err != nil || !bytes.Equal(out.Object, read) {
				t.Errorf("the reply is\n%s\nstored is\n%s\n%v", out.Object, read, err)
			}
		}
		same(w.Create(w.ctx(), all, []byte(c.body), resource.WriteOptions{}))
		same(w.Patch(w.ctx(), c.target, types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"},"finalizers":["example.com/f"]}}`), resource.WriteOptions{}))
		same(w.Delete(w.ctx(), c.target, deletion(), resource.WriteOptions{}))
	}
}

// What reading would change is not taken over from the writer: here a default
// below what the status subresource makes creations drop.
func TestUnsettledStatesAreReadAgain_CRD23(t *testing.T) {
	w := newWorld(t)
	w.defineText(strings.Replace(catalogtest.CronTab(v1, false),
		`status: {type: object, properties: {replicas: {type: integer}`, `status: {type: object, default: {}, properties: {replicas: {type: integer, default: 7}`, 1))
	out, err := w.Create(w.ctx(), w.at(v1, ""), []byte(tab(v1, "one", "h", "1")), resource.WriteOptions{})
	if err != nil || !bytes.Contains(out.Object, []byte(`"replicas":7`)) {
		t.Errorf("got %s, %v", out.Object, err)
	}
	if raw := w.raw(w.at(v1, "one")).Value; bytes.Contains(raw, []byte("replicas")) {
		t.Errorf("stored %s", raw)
	}
	if got, _, _ := nestedInt(w.read(w.at(v1, "one")).Object, "status", "replicas"); got != 7 {
		t.Errorf("read %d", got)
	}
}

// A write whose reply the converter does not make is not stored.
func TestNothingIsStoredWithoutAReply_CRD18(t *testing.T) {
	w := newWorld(t)
	w.conv.Refuse(v1beta1)
	_, err := w.Create(w.ctx(), w.at(v1beta1, ""), []byte(tab(v1beta1, "one", "h", "1")), resource.WriteOptions{})
	refused(t, err, 500, "", "not to example.com/v1beta1")
	w.conv.Refuse("")
	if e, err := w.entry(w.ctx(), w.at(v1, "one")); err == nil {
		t.Errorf("stored %s", e.Stored())
	}
}
