package write

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

func statusOf(t *testing.T, err error) metav1.Status {
	t.Helper()
	var s apierrors.APIStatus
	if !errors.As(err, &s) {
		t.Fatalf("no status: %v", err)
	}
	return s.Status()
}

// Tens of thousands of mistakes are refused in time, and the first ones told.
func TestManyMistakesAreRefusedInTime_FV01(t *testing.T) {
	const n = 50_000
	w := newWorld(t)
	var bad strings.Builder
	for i := range n {
		fmt.Fprintf(&bad, `,"bad name %d"`, i)
	}
	body := func(name, finalizers string) []byte {
		return []byte(tab(v1, name, "h", "1", `"finalizers":[`+finalizers+`]`))
	}
	one := w.at(v1, "one")
	made := w.create(one, string(body("one", `"example.com/a"`)))
	start := time.Now()
	_, err := w.Create(w.ctx(), w.at(v1, ""), body("two", `"example.com/a"`+bad.String()), resource.WriteOptions{})
	_, again := w.Update(w.ctx(), one, []byte(strings.Replace(string(body("one", `"example.com/a"`+bad.String())), `"name"`, `"resourceVersion":"`+made.GetResourceVersion()+`","name"`, 1)), resource.WriteOptions{})
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	for _, err := range []error{err, again} {
		refused(t, err, 422, "Invalid", `Invalid value: "bad name 0": `)
		s := statusOf(t, err)
		if !strings.HasSuffix(s.Message, fmt.Sprintf("] and %d more", n-maxMistakes)) || len(s.Details.Causes) != maxMistakes {
			t.Errorf("%d causes, …%s", len(s.Details.Causes), s.Message[len(s.Message)-40:])
		}
	}
}

// Long mistakes are told until they are too many bytes, and all of a few.
func TestMistakesAreToldWithinBounds_FV01(t *testing.T) {
	w := newWorld(t)
	one := w.at(v1, "one")
	kind := one.Resource.Def.GVK("v1").GroupKind()
	for _, c := range []struct{ n, size, told int }{
		{1, 10, 1}, {maxMistakes, 10, maxMistakes}, {maxMistakes + 1, 10, maxMistakes}, {3, maxTold, 1}, {3, maxTold / 2, 2},
	} {
		var errs field.ErrorList
		for i := range c.n {
			errs = append(errs, field.Invalid(field.NewPath("spec").Index(i), strings.Repeat("x", c.size), "no"))
		}
		s := statusOf(t, invalid(kind, "one", errs))
		more := ""
		if c.told < c.n {
			more = fmt.Sprintf(" and %d more", c.n-c.told)
		}
		whole := apierrors.NewInvalid(kind, "one", errs[:c.told])
		if len(s.Details.Causes) != c.told || s.Message != whole.ErrStatus.Message+more || s.Code != 422 {
			t.Errorf("%d of %d bytes: %d told, …%s", c.n, c.size, len(s.Details.Causes), s.Message[max(0, len(s.Message)-30):])
		}
	}
}

// What nobody could tell the mistakes of, since every path to them is nearly as
// long as the object, is refused before anybody tries.
func TestPathsAreBounded_FV01(t *testing.T) {
	w := newWorld(t)
	var fields []string
	for i := range 2000 {
		fields = append(fields, fmt.Sprintf(`"f%d":{"type":"no type"}`, i))
	}
	body := fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"as.example.com"},"spec":{"group":"example.com",
		"scope":"Namespaced","names":{"plural":"as","kind":"A"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":
		{"type":"object","properties":{%q:{"type":"object","properties":{%s}}}}}}]}}`, strings.Repeat("long", 20_000), strings.Join(fields, ","))
	_, err := w.Create(w.ctx(), w.builtin("customresourcedefinitions", "", ""), []byte(body), resource.WriteOptions{})
	refused(t, err, 413, "RequestEntityTooLarge", "the paths of all fields and items are longer than")
	for v, want := range map[string]int{
		`{}`: 0, `{"abc":1}`: len(".abc"), `{"a":{"b":1}}`: len(".a.a.b"), `{"abc":[1,{"d":1}]}`: len(".abc.abc[00].abc[00].abc[00].d"),
	} {
		left := 100
		if countPaths(w.parse([]byte(v)).Object, 0, &left); left != 100-want {
			t.Errorf("%s: %d bytes, not %d", v, 100-left, want)
		}
		left = want
		if countPaths(w.parse([]byte(v)).Object, 0, &left); left != 0 {
			t.Errorf("%s: %d of %d bytes are left", v, left, want)
		}
		for fewer := range want { // one that is used up in the middle of a list, too
			left = fewer
			if countPaths(w.parse([]byte(v)).Object, 0, &left); left >= 0 {
				t.Errorf("%s does not exceed %d", v, fewer)
			}
		}
	}
}

// What the server has set stays, whatever an update says of it or leaves out.
func TestUpdatesKeepWhatTheServerSet_UPD01(t *testing.T) {
	w := newWorld(t)
	one := w.builtin("configmaps", "default", "one")
	made := w.create(one, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one","finalizers":["example.com/a"]}}`)
	put := func(meta string) *unstructured.Unstructured {
		t.Helper()
		return w.must(w.Update(w.ctx(), one, []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one","finalizers":["example.com/a"]`+meta+`}}`), resource.WriteOptions{}))
	}
	got := put(`,"creationTimestamp":"2000-01-01T00:00:00Z","generation":7,"labels":{"a":"b"}`)
	was := made.GetCreationTimestamp()
	if at := got.GetCreationTimestamp(); got.GetUID() != made.GetUID() || got.GetUID() == "" || !at.Equal(&was) || got.GetGeneration() != made.GetGeneration() || got.GetDeletionTimestamp() != nil {
		t.Errorf("after an update: %v, before: %v", got.Object, made.Object)
	}
	if _, err := w.Delete(w.ctx(), one, deletion(), resource.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	deleted := w.read(one)
	got = put(`,"labels":{"a":"c"}`)
	if got.GetDeletionTimestamp() == nil || !got.GetDeletionTimestamp().Equal(deleted.GetDeletionTimestamp()) ||
		got.GetDeletionGracePeriodSeconds() == nil || *got.GetDeletionGracePeriodSeconds() != *deleted.GetDeletionGracePeriodSeconds() || got.GetLabels()["a"] != "c" {
		t.Errorf("after a deletion: %v, before: %v", got.Object, deleted.Object)
	}
	got = put(`,"deletionTimestamp":"2000-01-01T00:00:00Z"`)
	if !got.GetDeletionTimestamp().Equal(deleted.GetDeletionTimestamp()) {
		t.Errorf("another time of deletion: %v", got.Object)
	}
}

// willing is a strategy that accepts every object at once.
type willing struct{ crd.Strategy }

func (willing) Accept(context.Context, string, *unstructured.Unstructured, *unstructured.Unstructured) bool {
	return true
}

// A mistake that admission found refuses what the kind would accept at once.
func TestMistakesOfAdmissionAreRefused(t *testing.T) {
	w := newWorld(t)
	w.must(w.Create(w.ctx(), w.at(v1, ""), []byte(tab(v1, "one", "h", "1", `"labels":{"a":"b"}`)), resource.WriteOptions{}))
	obj, at := w.read(w.at(v1, "one")), w.at(v1, "one")
	version := *at.Version
	version.Strategy = willing{at.Version.Strategy}
	at.Version = &version
	r := &request{Target: at, strategy: version.Strategy}
	mistake := field.ErrorList{field.Invalid(field.NewPath("host"), "h", "is none")}
	for name, prepare := range map[string]func(field.ErrorList) error{
		"update": func(mistakes field.ErrorList) error {
			return prepareUpdate(w.ctx(), r, obj.DeepCopy(), obj.DeepCopy(), mistakes)
		},
		"create": func(mistakes field.ErrorList) error {
			_, err := prepareCreate(w.ctx(), r, &next{object: obj.DeepCopy()}, mistakes)
			return err
		},
	} {
		if err := prepare(nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := prepare(mistake); !apierrors.IsInvalid(err) {
			t.Errorf("%s with a mistake: %v", name, err)
		}
	}
}

// How long an object that is being deleted has is kept where a client says nothing of it,
// and changed by none.
func TestGracePeriodsAreNotChanged_DEL02(t *testing.T) {
	w := newWorld(t)
	one := w.at(v1, "one")
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1", `"finalizers":["example.com/f"]`))
	w.must(w.Delete(w.ctx(), one, &metav1.DeleteOptions{}, resource.WriteOptions{}))
	update := func(meta string) error {
		now := w.read(one).GetResourceVersion()
		_, err := w.Update(w.ctx(), one, []byte(tab(v1, "one", "h", "2", `"finalizers":["example.com/f"],"resourceVersion":"`+now+`"`+meta)), resource.WriteOptions{})
		return err
	}
	if err := update(""); err != nil {
		t.Fatal(err)
	}
	if n := w.read(one).GetDeletionGracePeriodSeconds(); n == nil || *n != 0 {
		t.Errorf("the grace period is %v", n)
	}
	refused(t, update(`,"deletionGracePeriodSeconds":5`), 422, "Invalid", "metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable")
}

// hurried is a strategy while which judges the client goes.
type hurried struct {
	crd.Strategy
	leave func()
}

func (hurried) Accept(context.Context, string, *unstructured.Unstructured, *unstructured.Unstructured) bool {
	return false
}

func (h hurried) Validate(ctx context.Context, obj, old *unstructured.Unstructured) crd.Verdict {
	h.leave()
	return crd.Verdict{Errors: field.ErrorList{field.Invalid(field.NewPath("host"), "h", "was not judged to its end")}}
}

// Of what was not judged to its end, as the request ended, nobody says that it is invalid.
func TestWhatIsNotJudgedToItsEndIsNotInvalid(t *testing.T) {
	w := newWorld(t)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	obj, at := w.read(w.at(v1, "one")), w.at(v1, "one")
	version := *at.Version
	for name, prepare := range map[string]func(context.Context, *request) error{
		"update": func(ctx context.Context, r *request) error {
			return beforeUpdate(ctx, r, obj.DeepCopy(), obj.DeepCopy(), nil)
		},
		"create": func(ctx context.Context, r *request) error { return beforeCreate(ctx, r, obj.DeepCopy(), nil) },
	} {
		ctx, leave := context.WithCancel(w.ctx())
		version.Strategy = hurried{at.Version.Strategy, leave}
		at.Version = &version
		if err := prepare(ctx, &request{Target: at, strategy: version.Strategy}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// slow is a strategy whose rules take too long, of which some may have been asked.
type slow struct {
	crd.Strategy
	also field.ErrorList
}

func (s slow) Validate(context.Context, *unstructured.Unstructured, *unstructured.Unstructured) crd.Verdict {
	late := field.Invalid(field.NewPath("host"), field.OmitValueType{}, "its rules took too long")
	return crd.Verdict{Errors: append(field.ErrorList{late}, s.also...), Unfinished: 1}
}

// What the time did not suffice to judge can be tried again, unless something is known to be
// wrong with it; nobody is told to do so at once.
func TestWhatTimeDidNotSufficeForIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	obj, at := w.read(w.at(v1, "one")), w.at(v1, "one")
	version := *at.Version
	at.Version = &version
	review := func(*request) error {
		_, err := w.Review(w.ctx(), at, []byte(tab(v1, "one", "h", "1")), resource.WriteOptions{}, func(map[string]any) error { return nil })
		return err
	}
	for name, judge := range map[string]func(*request) error{
		"update": func(r *request) error { return beforeUpdate(w.ctx(), r, obj.DeepCopy(), obj.DeepCopy(), nil) },
		"create": func(r *request) error { return beforeCreate(w.ctx(), r, obj.DeepCopy(), nil) },
		"review": review,
	} {
		version.Strategy = slow{Strategy: w.at(v1, "").Version.Strategy}
		err := judge(&request{Target: at, strategy: version.Strategy})
		refused(t, err, 504, "Timeout", "was not judged to its end: host: its rules took too long")
		if after, ok := apierrors.SuggestsClientDelay(err); ok {
			t.Errorf("%s: to be tried after %d", name, after)
		}
		version.Strategy = slow{w.at(v1, "").Version.Strategy, field.ErrorList{field.Required(field.NewPath("port"), "")}}
		refused(t, judge(&request{Target: at, strategy: version.Strategy}), 422, "Invalid", "port: Required value")
	}
}
