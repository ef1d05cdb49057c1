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

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

func rv(s string) string { return fmt.Sprintf(`"resourceVersion":%q`, s) }

func TestPutNeedsTheCurrentRevision_UPD01_UPD02(t *testing.T) {
	w := newWorld(t)
	made := w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	one := w.at(v1, "one")
	put := func(body string) (*resource.Written, error) {
		return w.Update(w.ctx(), one, []byte(body), resource.WriteOptions{})
	}
	changed := w.must(put(tab(v1, "one", "h", "2", rv(made.GetResourceVersion()))))
	if changed.GetResourceVersion() == made.GetResourceVersion() || changed.GetGeneration() != 2 {
		t.Errorf("got %v", changed.Object)
	}
	before := w.raw(one)
	_, err := put(tab(v1, "one", "h", "3", rv(made.GetResourceVersion())))
	refused(t, err, 409, "Conflict", `Operation cannot be fulfilled on crontabs.example.com "one": the object has been modified; please apply your changes to the latest version and try again`)
	_, err = put(tab(v1, "one", "h", "3", rv(made.GetResourceVersion()), `"uid":"other"`))
	refused(t, err, 409, "Conflict", "Precondition failed: UID in precondition: other, UID in object meta: "+string(made.GetUID()))
	_, err = put(tab(v1, "one", "h", "3"))
	refused(t, err, 422, "Invalid", `crontabs.example.com "one" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`)
	_, err = put(tab(v1, "two", "h", "3"))
	refused(t, err, 400, "BadRequest", "the name of the object (two) does not match the name on the URL (one)")
	_, err = w.Update(w.ctx(), w.at(v1, "none"), []byte(tab(v1, "none", "h", "1", rv("1"))), resource.WriteOptions{})
	refused(t, err, 404, "NotFound", `crontabs.example.com "none" not found`)
	if after := w.raw(one); after.Revision != before.Revision {
		t.Error("a refused write wrote")
	}
}

func TestPutOfBuiltins_UPD02_VERB03(t *testing.T) {
	w := newWorld(t)
	w.create(w.builtin("configmaps", "default", ""), configMap("one", "1"))
	one := w.builtin("configmaps", "default", "one")
	got := w.must(w.Update(w.ctx(), one, []byte(configMap("one", "2")), resource.WriteOptions{})) // unconditional
	again := w.must(w.Update(w.ctx(), one, []byte(configMap("one", "2")), resource.WriteOptions{}))
	if got.GetResourceVersion() != again.GetResourceVersion() {
		t.Error("an update that changes nothing wrote")
	}
	lease := `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l"%s},"spec":{}}`
	l := w.builtin("leases", "default", "l")
	_, err := w.Update(w.ctx(), l, fmt.Appendf(nil, lease, `,"uid":"zz"`), resource.WriteOptions{})
	refused(t, err, 409, "Conflict", "UID in precondition: zz, UID in object meta: ")
	out, err := w.Update(w.ctx(), l, fmt.Appendf(nil, lease, `,"resourceVersion":"5"`), resource.WriteOptions{})
	if w.must(out, err); !out.Created {
		t.Error("the lease was not created")
	}
}

func TestPatchIsUnconditionalUnlessItSaysSo_UPD03(t *testing.T) {
	w := newWorld(t)
	made := w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	one := w.at(v1, "one")
	merge := func(body string) (*resource.Written, error) {
		return w.Patch(w.ctx(), one, types.MergePatchType, []byte(body), resource.WriteOptions{})
	}
	var wg sync.WaitGroup
	for i := range 20 { // at the same time, of different fields
		wg.Go(func() {
			if _, err := merge(fmt.Sprintf(`{"metadata":{"labels":{"l%d":"x"}}}`, i)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(w.read(one).GetLabels()); n != 20 {
		t.Errorf("%d of 20 patches are left", n)
	}
	_, err := merge(`{"port":"2","metadata":{` + rv(made.GetResourceVersion()) + `}}`)
	refused(t, err, 409, "Conflict", "the object has been modified")
	now := w.read(one).GetResourceVersion()
	w.must(merge(`{"port":"2","metadata":{` + rv(now) + `}}`))
	for _, none := range []string{"null", `"0"`} {
		_, err = merge(`{"metadata":{"resourceVersion":` + none + `}}`)
		refused(t, err, 422, "Invalid", "metadata.resourceVersion: Invalid value: 0: must be specified for an update")
	}
}

func TestWritesFromAStaleCache_UPD01_UPD03(t *testing.T) {
	w := newWorld(t)
	made := w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	w.wait(w.revision())
	one := w.at(v1, "one")
	release := w.store.holdUp()
	defer release()
	patch := func(kind types.PatchType, body string, o resource.WriteOptions) (*resource.Written, error) {
		return w.Patch(w.ctx(), one, kind, []byte(body), o)
	}
	second := w.must(patch(types.MergePatchType, `{"port":"2"}`, resource.WriteOptions{}))
	// The cache still says 1: nothing to change, it seems.
	third := w.must(patch(types.MergePatchType, `{"port":"1"}`, resource.WriteOptions{}))
	if third.GetResourceVersion() == second.GetResourceVersion() || third.Object["port"] != "1" {
		t.Errorf("the patch was lost: %v", third.Object)
	}
	// A test that only the present state passes.
	w.must(patch(types.MergePatchType, `{"port":"4"}`, resource.WriteOptions{}))
	fourth := w.must(patch(types.JSONPatchType, `[{"op":"test","path":"/port","value":"4"},{"op":"replace","path":"/port","value":"5"}]`, resource.WriteOptions{}))
	// A conditional write from the present state, and one from the cached one.
	dry := resource.WriteOptions{DryRun: true}
	_, err := w.Update(w.ctx(), one, []byte(tab(v1, "one", "h", "6", rv(made.GetResourceVersion()))), dry)
	refused(t, err, 409, "Conflict", "the object has been modified")
	w.must(w.Update(w.ctx(), one, []byte(tab(v1, "one", "h", "6", rv(fourth.GetResourceVersion()))), dry))
	w.must(w.Update(w.ctx(), one, []byte(tab(v1, "one", "h", "6", rv(fourth.GetResourceVersion()))), resource.WriteOptions{}))
	release()
	if got := w.read(one).Object["port"]; got != "6" {
		t.Errorf("in the end: %v", got)
	}
}

// amnesiac is a store that does what it is asked, and then says that it does
// not know.
type amnesiac struct {
	storage.Store
	on    atomic.Bool
	calls atomic.Int64
	then  func() // once it has done it
}

func (s *amnesiac) While(key string, rev int64) storage.GuardedWriter {
	return forgetful{s.Store.While(key, rev), s}
}

// forgetful is a writer of an amnesiac store.
type forgetful struct {
	storage.GuardedWriter
	store *amnesiac
}

func (w forgetful) Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	rev, err := w.GuardedWriter.Update(ctx, key, value, rev, ttl)
	if w.store.on.Load() && err == nil {
		w.store.calls.Add(1)
		w.store.then()
		return 0, &storage.Error{Kind: storage.Unavailable, Key: key, Cause: context.DeadlineExceeded}
	}
	return rev, err
}

func TestWriteOfUnknownOutcomeIsNotRepeated_UPD03(t *testing.T) {
	store := &amnesiac{Store: storagetest.NewMemory(), then: func() {}}
	w := worldOver(t, store)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	store.on.Store(true)
	_, err := w.Patch(w.ctx(), w.at(v1, "one"), types.MergePatchType, []byte(`{"port":"2"}`), resource.WriteOptions{})
	refused(t, err, 500, "", "the store did not confirm the write: ")
	var f final
	if n := store.calls.Load(); n != 1 || errors.As(err, &f) {
		t.Errorf("%d calls, %v", n, err)
	}
	if s, again := apierrors.SuggestsClientDelay(err); again {
		t.Errorf("to be sent again after %d seconds", s)
	}
	ctx, end := context.WithCancel(w.ctx())
	store.then = end
	_, err = w.Patch(ctx, w.at(v1, "one"), types.MergePatchType, []byte(`{"port":"3"}`), resource.WriteOptions{})
	store.on.Store(false)
	refused(t, err, 504, "Timeout", "request did not complete")
	if s, again := apierrors.SuggestsClientDelay(err); again || store.calls.Load() != 2 {
		t.Errorf("to be sent again after %d seconds, %d calls", s, store.calls.Load())
	}
	made := w.read(w.at(v1, "one"))
	w.conv.BreakDown("no conversion")
	_, err = w.Update(w.ctx(), w.at(v1beta1, "one"), []byte(tab(v1beta1, "one", "h", "2", rv("1"))), resource.WriteOptions{})
	refused(t, err, 500, "", "no conversion")
	if w.read(w.at(v1, "one")).GetResourceVersion() != made.GetResourceVersion() {
		t.Error("a write without a conversion")
	}
}

func TestIdenticalPutMovesToTheStorageVersion_CRD24_CRD27(t *testing.T) {
	w := newWorld(t)
	made := w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	put := func(version string) string {
		t.Helper()
		body := w.read(w.at(version, "one"))
		data, err := body.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		return w.must(w.Update(w.ctx(), w.at(version, "one"), data, resource.WriteOptions{})).GetResourceVersion()
	}
	if now := put(v1); now != made.GetResourceVersion() {
		t.Error("an identical PUT wrote without a reason")
	}
	if now := put(v1beta1); now != made.GetResourceVersion() {
		t.Error("an identical PUT at the other version wrote without a reason")
	}
	w.define(v1beta1, false)
	if got := string(w.raw(w.at(v1, "one")).Value); !strings.Contains(got, `"example.com/v1"`) {
		t.Errorf("CRD-25: moved by itself: %s", got)
	}
	w.read(w.at(v1beta1, "one"))
	if got := w.raw(w.at(v1, "one")); fmt.Sprint(got.Revision) != made.GetResourceVersion() {
		t.Error("CRD-26: moved by a read")
	}
	moved := put(v1)
	if got := string(w.raw(w.at(v1, "one")).Value); moved == made.GetResourceVersion() || !strings.Contains(got, `"example.com/v1beta1"`) || !strings.Contains(got, `"hostPort":"h:1"`) {
		t.Errorf("not moved: %s", got)
	}
	if again := put(v1); again != moved {
		t.Error("moved twice")
	}
}

func TestDryRunChangesNothing_DRY01(t *testing.T) {
	w := newWorld(t)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1", `"finalizers":["example.com/f"]`))
	w.create(w.at(v1, ""), tab(v1, "two", "h", "1"))
	w.must(w.Patch(w.ctx(), w.at(v1, "one"), types.MergePatchType, []byte(`{"spec":{"replicas":1}}`), resource.WriteOptions{}))
	before := w.revision()
	dry := resource.WriteOptions{DryRun: true}
	got := w.must(w.Create(w.ctx(), w.at(v1, ""), []byte(tab(v1, "three", "h", "1")), dry))
	if got.GetUID() == "" || got.GetResourceVersion() != "" {
		t.Errorf("create: %v", got.Object)
	}
	_, err := w.Create(w.ctx(), w.at(v1, ""), []byte(tab(v1, "two", "h", "1")), dry)
	refused(t, err, 409, "AlreadyExists", `crontabs.example.com "two" already exists`)
	_, err = w.Create(w.ctx(), w.at(v1, ""), []byte(tab(v1, "three", "h", "123456")), dry)
	refused(t, err, 422, "Invalid", "port")
	if got := w.must(w.Patch(w.ctx(), w.at(v1, "two"), types.MergePatchType, []byte(`{"port":"9"}`), dry)); got.Object["port"] != "9" {
		t.Errorf("patch: %v", got.Object)
	}
	if got := w.must(w.Patch(w.ctx(), w.sub("one", "scale"), types.MergePatchType, []byte(`{"spec":{"replicas":7}}`), dry)); fmt.Sprint(got.Object["spec"]) != "map[replicas:7]" {
		t.Errorf("scale: %v", got.Object)
	}
	for _, name := range []string{"one", "two"} {
		out, err := w.Delete(w.ctx(), w.at(v1, name), deletion(), dry)
		if w.must(out, err); out.Deleted != (name == "two") {
			t.Errorf("delete %s: %v", name, out)
		}
	}
	list, err := w.deleteAll(w.at(v1, ""), &internalversion.ListOptions{}, deletion(), dry, encoding.At(v1))
	if err != nil || len(list.Entries) != 2 {
		t.Errorf("deletecollection: %v, %v", list, err)
	}
	if after := w.revision(); after != before {
		t.Errorf("the store went from %d to %d", before, after)
	}
}

// Who creates what is about to go is told so, and can wait.
func TestCreateBesideWhatIsBeingDeleted_RES09_DEL(t *testing.T) {
	w := newWorld(t)
	all := w.at(v1, "")
	w.create(all, tab(v1, "one", "h", "1", `"finalizers":["example.com/f"]`))
	w.must(w.Delete(w.ctx(), w.at(v1, "one"), deletion(), resource.WriteOptions{}))
	for _, o := range []resource.WriteOptions{{}, {DryRun: true}} {
		_, err := w.Create(w.ctx(), all, []byte(tab(v1, "one", "h", "1")), o)
		refused(t, err, 409, "AlreadyExists", `object is being deleted: crontabs.example.com "one" already exists`)
		_, err = w.Create(w.ctx(), all, []byte(tab(v1, "one", "h", "1", `"generateName":"o"`)), o)
		refused(t, err, 409, "AlreadyExists", `object is being deleted: crontabs.example.com "one" already exists, the server was not able to generate a unique name for the object`)
	}
}

func TestCreate_RES09_VERB04(t *testing.T) {
	w := newWorld(t)
	all := w.at(v1, "")
	create := func(body string) (*resource.Written, error) {
		return w.Create(w.ctx(), all, []byte(body), resource.WriteOptions{})
	}
	a := w.must(create(`{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"generateName":"g-"}}`))
	b := w.must(create(`{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"generateName":"g-"}}`))
	if !strings.HasPrefix(a.GetName(), "g-") || a.GetName() == b.GetName() || a.GetUID() == b.GetUID() {
		t.Errorf("got %s and %s", a.GetName(), b.GetName())
	}
	w.must(create(tab(v1, "one", "h", "1", `"resourceVersion":"0"`)))
	_, err := create(tab(v1, "one", "h", "1"))
	refused(t, err, 409, "AlreadyExists", `crontabs.example.com "one" already exists`)
	other := all
	other.Namespace = "other"
	w.create(other, tab(v1, "one", "h", "1"))
	other.Namespace = "nowhere"
	_, err = w.Create(w.ctx(), other, []byte(tab(v1, "one", "h", "1", `"resourceVersion":"5"`)), resource.WriteOptions{})
	refused(t, err, 404, "NotFound", `namespaces "nowhere" not found`)
	_, err = create(tab(v1, "two", "h", "1", `"resourceVersion":"5"`))
	refused(t, err, 400, "BadRequest", "resourceVersion should not be set on objects to be created")
	_, err = create(tab(v1, "t_o", "h", "1", `"resourceVersion":"5"`))
	refused(t, err, 422, "Invalid", "metadata.name")
	dry, err := w.Create(w.ctx(), all, []byte(tab(v1, "two", "h", "1", `"resourceVersion":"5"`)), resource.WriteOptions{DryRun: true})
	if err != nil || !strings.Contains(string(dry.Object), `"resourceVersion":"5"`) {
		t.Errorf("a dry run with a resourceVersion: %+v %v", dry, err)
	}
	_, err = create(tab(v1, "two", "h", "1", `"namespace":"other"`))
	refused(t, err, 400, "BadRequest", "does not match the namespace")
	_, err = create(tab(v1beta1, "two", "h", "1"))
	refused(t, err, 400, "BadRequest", "the API version in the data (example.com/v1beta1) does not match the expected API version (example.com/v1)")
	_, err = create(`[` + tab(v1, "two", "h", "1") + `]`)
	refused(t, err, 400, "BadRequest", "cannot unmarshal array")
	_, err = create(tab(v1, "two", "h", "1") + tab(v1, "three", "h", "1"))
	refused(t, err, 400, "BadRequest", "")
	_, err = create(`{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"two","labels":5}}`)
	refused(t, err, 400, "BadRequest", `CronTab in version "v1" cannot be handled as a CronTab: json: cannot unmarshal number`)
	_, err = w.Create(w.ctx(), all, []byte(tab(v1, "two", "h", "1", `"x":1`)), resource.WriteOptions{FieldValidation: "Strict"})
	refused(t, err, 400, "BadRequest", `CronTab in version "v1" cannot be handled as a CronTab: strict decoding error: unknown field "metadata.x"`)
	stored := w.create(w.at(v1beta1, ""), tab(v1beta1, "four", "h", "4"))
	if raw := string(w.raw(w.at(v1, "four")).Value); stored.Object["hostPort"] != "h:4" || !strings.Contains(raw, `"port":"4"`) || strings.Contains(raw, "resourceVersion") {
		t.Errorf("CRD-24: stored %s", raw)
	}
}
