package write

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// stage is a mutator or a validator that notes what it saw.
type stage struct {
	name string
	log  *[]string
	do   func(ctx context.Context, w admission.Attributes) error
}

func (s stage) note(ctx context.Context, w admission.Attributes) error {
	*s.log = append(*s.log, fmt.Sprintf("%s %s by %s", s.name, w.GetOperation(), w.GetUserInfo().GetName()))
	if s.do != nil {
		return s.do(ctx, w)
	}
	return nil
}

func (s stage) Mutate(ctx context.Context, w admission.Attributes) error   { return s.note(ctx, w) }
func (s stage) Validate(ctx context.Context, w admission.Attributes) error { return s.note(ctx, w) }

// staged is a world with one of each stage.
func staged(t *testing.T) (w *world, log *[]string, mutator, validator *stage) {
	w, log = newWorld(t), new([]string)
	mutator, validator = &stage{name: "mutate", log: log}, &stage{name: "validate", log: log}
	w.o.Admission.Mutators, w.o.Admission.Validators = append(w.o.Admission.Mutators, mutator), []admission.Validator{validator}
	return w, log, mutator, validator
}

var alice = resource.WriteOptions{Caller: resource.Caller{User: &authn.User{Name: "alice"}, FieldManager: "kubectl"}}

// Every verb, for custom and built-in kinds, passes the same stages in the
// same order, and each stage knows the caller.
func TestStagesOfEveryVerb(t *testing.T) {
	for _, kind := range []string{"custom", "built-in"} {
		t.Run(kind, func(t *testing.T) {
			w, log, _, _ := staged(t)
			all, body := w.at(v1, ""), tab(v1, "one", "h", "1", `"finalizers":["example.com/f"]`)
			if kind == "built-in" {
				all, body = w.builtin("configmaps", "default", ""), configMap("one", "1", `"finalizers":["example.com/f"]`)
			}
			one := all
			one.Name = "one"
			check := func(verb string, err error, want ...string) {
				t.Helper()
				if err != nil {
					t.Errorf("%s: %v", verb, err)
				}
				if !slices.Equal(*log, want) {
					t.Errorf("%s: %q, want %q", verb, *log, want)
				}
				*log = nil
			}
			both := func(op string) []string {
				return []string{"mutate " + op + " by alice", "validate " + op + " by alice"}
			}
			_, err := w.Create(w.ctx(), all, []byte(body), alice)
			check("create", err, both("CREATE")...)
			made := w.read(one)
			_, err = w.Update(w.ctx(), one, []byte(strings.Replace(body, `"name"`, `"labels":{"a":"b"},"resourceVersion":"`+made.GetResourceVersion()+`","name"`, 1)), alice)
			check("update", err, both("UPDATE")...)
			w.read(one) // the patches start from what the cache knows
			for kind, patch := range map[types.PatchType]string{
				types.MergePatchType: `{"metadata":{"labels":{"a":"c"}}}`,
				types.JSONPatchType:  `[{"op":"replace","path":"/metadata/labels/a","value":"d"}]`,
			} {
				_, err = w.Patch(w.ctx(), one, kind, []byte(patch), alice)
				check(string(kind), err, both("UPDATE")...)
				w.read(one)
			}
			_, err = w.Delete(w.ctx(), one, deletion(), alice)
			check("delete", err, "mutate DELETE by alice", "validate DELETE by alice")
			w.read(one)
			_, err = w.Patch(w.ctx(), one, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), alice)
			check("the last finalizer", err, both("UPDATE")...)
			if _, err := w.entry(w.ctx(), one); !apierrors.IsNotFound(err) {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// What a mutator does is made well-formed, validated and stored.
func TestStagesChangeWhatIsStored(t *testing.T) {
	w, _, mutator, validator := staged(t)
	mutator.do = func(ctx context.Context, w admission.Attributes) error {
		tree, err := w.GetObjectAt(ctx, "v1")
		if err != nil {
			return err
		}
		tree["host"], tree["unknown"] = "mutated", true
		return w.Replace(ctx, "v1", tree)
	}
	validator.do = func(_ context.Context, w admission.Attributes) error {
		if w.GetObject().Object["host"] != "mutated" || w.GetObject().Object["unknown"] != nil {
			t.Errorf("the validator sees %v", w.GetObject())
		}
		return nil
	}
	w.must(w.Create(w.ctx(), w.at(v1, ""), []byte(tab(v1, "one", "h", "1")), alice))
	validator.do = nil
	if raw := string(w.raw(w.at(v1, "one")).Value); !strings.Contains(raw, `"host":"mutated"`) || strings.Contains(raw, "unknown") {
		t.Errorf("stored %s", raw)
	}
	mutator.do = func(_ context.Context, w admission.Attributes) error {
		w.GetObject().Object["port"] = "123456"
		return nil
	}
	_, err := w.Patch(w.ctx(), w.at(v1, "one"), types.MergePatchType, []byte(`{"host":"x"}`), alice)
	refused(t, err, 422, "Invalid", "port: Too long")
	mutator.do = func(_ context.Context, w admission.Attributes) error { w.GetObject().Object["kind"] = 7; return nil }
	_, err = w.Patch(w.ctx(), w.at(v1, "one"), types.MergePatchType, []byte(`{"host":"x"}`), alice)
	refused(t, err, 500, "InternalError", "kind")
}

// A stage that refuses ends the write before anything is stored, and its error
// is the client's.
func TestStagesRefuse(t *testing.T) {
	w, log, mutator, validator := staged(t)
	w.must(w.Create(w.ctx(), w.at(v1, ""), []byte(tab(v1, "one", "h", "1")), alice))
	before := w.raw(w.at(v1, "one")).Revision
	for _, s := range []*stage{mutator, validator} {
		s.do = func(context.Context, admission.Attributes) error {
			return apierrors.NewForbidden(cronTabs, "one", errors.New("not by "+s.name))
		}
		*log = nil
		_, err := w.Patch(w.ctx(), w.at(v1, "one"), types.MergePatchType, []byte(`{"host":"x"}`), alice)
		refused(t, err, 403, "Forbidden", "not by "+s.name)
		if last := (*log)[len(*log)-1]; !strings.HasPrefix(last, s.name) {
			t.Errorf("%s refused, and %s was asked", s.name, last)
		}
		_, err = w.Delete(w.ctx(), w.at(v1, "one"), deletion(), alice)
		refused(t, err, 403, "Forbidden", "not by "+s.name)
		_, err = w.Create(w.ctx(), w.at(v1, ""), []byte(tab(v1, "two", "h", "1")), alice)
		refused(t, err, 403, "Forbidden", "not by "+s.name)
		s.do = nil
	}
	if now := w.raw(w.at(v1, "one")).Revision; now != before {
		t.Error("something was stored")
	}
}

// Admission sees the objects at the request's version, and of a deletion only
// the present one, which is converted when it is asked for and not before.
func TestStagesSeeTheRequestsVersion(t *testing.T) {
	w, _, _, validator := staged(t)
	var old, object *unstructured.Unstructured
	validator.do = func(ctx context.Context, w admission.Attributes) (err error) {
		object = w.GetObject()
		old, err = w.GetOldObject(ctx)
		return err
	}
	w.must(w.Create(w.ctx(), w.at(v1beta1, ""), []byte(tab(v1beta1, "one", "h", "1")), alice))
	if old != nil || object.GetAPIVersion() != "example.com/v1beta1" {
		t.Errorf("create: %v %v", old, object)
	}
	w.read(w.at(v1beta1, "one"))
	w.must(w.Patch(w.ctx(), w.at(v1beta1, "one"), types.MergePatchType, []byte(`{"hostPort":"h:2"}`), alice))
	if old.Object["hostPort"] != "h:1" || object.Object["hostPort"] != "h:2" {
		t.Errorf("update: %v %v", old, object)
	}
	w.read(w.at(v1beta1, "one"))
	if _, err := w.Delete(w.ctx(), w.at(v1, "one"), &metav1.DeleteOptions{}, resource.WriteOptions{Caller: resource.Component("tester"), NoReply: true}); err != nil {
		t.Fatal(err)
	}
	if object != nil || old.Object["host"] != "h" || old.Object["port"] != "2" {
		t.Errorf("delete: %v %v", old, object)
	}
}

// A generated name that is taken is replaced without deciding anew about the
// object: mutators ran already, validators see the new name.
func TestGeneratedNamesAreTriedAgain(t *testing.T) {
	w, log, _, validator := staged(t)
	var names []string
	validator.do = func(_ context.Context, wr admission.Attributes) error {
		names = append(names, wr.GetObject().GetName())
		if len(names) < 3 { // somebody is quicker
			_, err := w.store.Create(w.ctx(), wr.(attributes).Resource.Key("default", wr.GetObject().GetName()), []byte(`{"taken":true}`), 0)
			return err
		}
		return nil
	}
	made := w.must(w.Create(w.ctx(), w.at(v1, ""), []byte(strings.Replace(tab(v1, "x", "h", "1"), `"name":"x"`, `"generateName":"gen-"`, 1)), alice))
	if len(names) != 3 || made.GetName() != names[2] || names[0] == names[1] || !strings.HasPrefix(names[2], "gen-") {
		t.Errorf("%s of %v", made.GetName(), names)
	}
	if len(*log) != 4 {
		t.Errorf("stages: %q", *log)
	}
	names = nil
	validator.do = func(_ context.Context, wr admission.Attributes) error {
		names = append(names, wr.GetObject().GetName())
		_, err := w.store.Create(w.ctx(), wr.(attributes).Resource.Key("default", wr.GetObject().GetName()), []byte(`{}`), 0)
		return err
	}
	_, err := w.Create(w.ctx(), w.at(v1, ""), []byte(strings.Replace(tab(v1, "x", "h", "1"), `"name":"x"`, `"generateName":"gen-"`, 1)), alice)
	refused(t, err, 409, "AlreadyExists", `"`+names[len(names)-1]+`" already exists, the server was not able to generate a unique name`)
	if len(names) != generateAttempts {
		t.Errorf("%d names were tried", len(names))
	}
}

// What a kind makes of a name and a uid is made anew of another one.
func TestJobsOfGeneratedNames(t *testing.T) {
	w, _, _, validator := staged(t)
	var taken string
	validator.do = func(_ context.Context, wr admission.Attributes) error {
		if taken != "" {
			return nil
		}
		taken = wr.GetObject().GetName()
		_, err := w.store.Create(w.ctx(), wr.(attributes).Resource.Key("default", taken), []byte(`{"taken":true}`), 0)
		return err
	}
	made := w.must(w.Create(w.ctx(), w.builtin("jobs", "default", ""), []byte(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"generateName":"gen-"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"i"}]}}}}`), alice))
	labels, _, _ := unstructured.NestedStringMap(made.Object, "spec", "template", "metadata", "labels")
	if taken == "" || made.GetName() == taken || labels["job-name"] != made.GetName() || labels["controller-uid"] != string(made.GetUID()) {
		t.Errorf("after %s: %s, %s, %v", taken, made.GetName(), made.GetUID(), labels)
	}
}

// The revision that a client gave what it creates is in the reply to a dry run, whichever
// of the generated names is free.
func TestARevisionIsKeptOverNames_DRY01(t *testing.T) {
	w, _, _, validator := staged(t)
	asked := 0
	validator.do = func(_ context.Context, wr admission.Attributes) error {
		if asked++; asked == 1 { // somebody is quicker
			_, err := w.store.Create(w.ctx(), wr.(attributes).Resource.Key("default", wr.GetObject().GetName()), []byte(`{"taken":true}`), 0)
			return err
		}
		return nil
	}
	dry := alice
	dry.DryRun = true
	body := strings.Replace(tab(v1, "x", "h", "1"), `"name":"x"`, `"generateName":"gen-","resourceVersion":"7"`, 1)
	if made := w.must(w.Create(w.ctx(), w.at(v1, ""), []byte(body), dry)); asked != 2 || made.GetResourceVersion() != "7" {
		t.Errorf("asked %d times, revision %q", asked, made.GetResourceVersion())
	}
}

// A definition that changes in the middle of many deletions takes nothing away
// from the reply.
func TestDeleteCollectionAcrossDefinitions_VERB04(t *testing.T) {
	w, _, _, validator := staged(t)
	for _, name := range []string{"a", "b", "c"} {
		w.must(w.Create(w.ctx(), w.at(v1, ""), []byte(tab(v1, name, "h", "1")), alice))
	}
	w.wait(w.revision())
	deleted := 0
	validator.do = func(_ context.Context, wr admission.Attributes) error {
		if deleted++; deleted == 2 {
			w.define(v1beta1, false)
		}
		return nil
	}
	l, err := w.deleteAll(w.at(v1, ""), &internalversion.ListOptions{}, deletion(), alice, encoding.At(v1))
	if err != nil || len(l.Items) != 3 {
		t.Fatalf("got %v, %v", l, err)
	}
	w.wait(w.revision())
	if left, err := w.List(w.ctx(), w.at(v1, ""), &internalversion.ListOptions{}); err != nil || len(left.Entries) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// A PUT that may create does so when the object that the cache still has is
// gone.
func TestPutFromAStaleCacheCreates_VERB03(t *testing.T) {
	w := newWorld(t)
	lease := w.builtin("leases", "default", "one")
	body := `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"one"},"spec":{"holderIdentity":"%s"}}`
	made := w.must(w.Update(w.ctx(), lease, fmt.Appendf(nil, body, "a"), resource.WriteOptions{}))
	w.wait(w.revision())
	release := w.store.holdUp()
	defer release()
	kv := w.raw(lease)
	if _, err := w.store.Delete(w.ctx(), kv.Key, kv.Revision); err != nil {
		t.Fatal(err)
	}
	out, err := w.Update(w.ctx(), lease, fmt.Appendf(nil, body, "b"), resource.WriteOptions{})
	if err != nil || !out.Created || out.UID == string(made.GetUID()) {
		t.Errorf("got %v, %v", out, err)
	}
}
