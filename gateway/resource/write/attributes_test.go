package write

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/storage"
)

// looking are admission plugins of both phases.
type looking struct {
	mutate, validate func(ctx context.Context, a admission.Attributes) error
}

func (l *looking) Mutate(ctx context.Context, a admission.Attributes) error {
	if l.mutate == nil {
		return nil
	}
	return l.mutate(ctx, a)
}

func (l *looking) Validate(ctx context.Context, a admission.Attributes) error {
	if l.validate == nil {
		return nil
	}
	return l.validate(ctx, a)
}

func watched(t *testing.T) (*world, *looking) {
	w, l := newWorld(t), &looking{}
	w.o.Admission = admission.Chain{Mutators: []admission.Mutator{l}, Validators: []admission.Validator{l}}
	return w, l
}

// seen is what a plugin sees of a request, at an older version if there is one.
func seen(ctx context.Context, a admission.Attributes) (string, error) {
	version := a.GetResource().Version
	if others := a.GetVersions(); len(others) > 0 {
		version = others[0]
	}
	is, err := a.GetObjectAt(ctx, version)
	if err != nil {
		return "", err
	}
	was, err := a.GetOldObjectAt(ctx, version)
	if err != nil {
		return "", err
	}
	states, err := a.GetLabels()
	if err != nil {
		return "", err
	}
	said := func(tree map[string]any) string {
		if tree == nil {
			return "nothing"
		}
		spec, _ := tree["spec"].(map[string]any)
		return fmt.Sprintf("%v %v %v managed:%v", tree["kind"], tree["hostPort"], spec["replicas"], object.Detach(object.Clone(tree)) != nil)
	}
	return fmt.Sprintf("%s %s %q %v: %s, was %s, labels %v, by %s, dry run %v, own %v", a.GetOperation(), a.GetKind().Kind, a.GetSubresource(), a.GetVersions(), said(is), said(was), states, a.GetUserInfo().GetName(), a.IsDryRun(), a.IsOwn()), nil
}

// Plugins see of every write what it is about, what there is and what there will be.
func TestWhatPluginsSee_ADM(t *testing.T) {
	w, l := watched(t)
	var told []string
	look := func(ctx context.Context, a admission.Attributes) error {
		text, err := seen(ctx, a)
		told = append(told, text)
		return err
	}
	ann := resource.WriteOptions{Caller: resource.Caller{User: &authn.User{Name: "ann"}, FieldManager: "m"}}
	must := func(out *resource.Written, err error) {
		t.Helper()
		w.must(out, err)
	}
	for _, c := range []struct {
		name  string
		write func()
		want  string
	}{
		{"a creation", func() {
			must(w.Create(w.ctx(), w.at(v1, ""), []byte(tab(v1, "one", "h", "1", `"labels":{"a":"b"}`)), ann))
		}, `CREATE CronTab "" [v1beta1]: CronTab h:1 <nil> managed:true, was nothing, labels [a=b], by ann, dry run false, own false`},
		{"a dry run", func() {
			o := ann
			o.DryRun, o.Caller.Own = true, true
			must(w.Create(w.ctx(), w.at(v1, ""), []byte(tab(v1, "two", "h", "1")), o))
		}, `CREATE CronTab "" [v1beta1]: CronTab h:1 <nil> managed:true, was nothing, labels [], by ann, dry run true, own true`},
		{"an update", func() {
			now := w.read(w.at(v1, "one")).GetResourceVersion()
			must(w.Update(w.ctx(), w.at(v1, "one"), []byte(tab(v1, "one", "h", "2", `"labels":{"a":"c"},"resourceVersion":"`+now+`"`)), resource.WriteOptions{}))
		}, `UPDATE CronTab "" [v1beta1]: CronTab h:2 <nil> managed:true, was CronTab h:1 <nil> managed:true, labels [a=c a=b], by system:anonymous, dry run false, own false`},
		{"a scale", func() {
			must(w.Update(w.ctx(), w.sub("one", "scale"), []byte(`{"metadata":{"name":"one","labels":{"x":"y"}},"spec":{"replicas":3}}`), ann))
		}, `UPDATE Scale "scale" []: Scale <nil> 3 managed:false, was Scale <nil> <nil> managed:false, labels [x=y ], by ann, dry run false, own false`},
		{"a deletion", func() { must(w.Delete(w.ctx(), w.at(v1, "one"), &metav1.DeleteOptions{}, ann)) }, `DELETE CronTab "" [v1beta1]: nothing, was CronTab h:2 3 managed:true, labels [a=c], by ann, dry run false, own false`},
	} {
		told, l.mutate, l.validate = nil, look, nil
		if c.name == "a deletion" { // which nobody mutates
			l.mutate, l.validate = nil, look
		}
		if c.write(); len(told) == 0 || told[len(told)-1] != c.want {
			t.Errorf("%s: %q\nwant %q", c.name, told, c.want)
		}
	}
}

// A client is warned of what its write was about in the end: not of a state that somebody
// else replaced before it could be committed.
func TestWarningsAreOfTheLastAttempt_ADM(t *testing.T) {
	w, l := watched(t)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	merge := func(body string, o resource.WriteOptions) {
		t.Helper()
		w.must(w.Patch(w.ctx(), w.at(v1, "one"), types.MergePatchType, []byte(body), o))
	}
	attempts := 0
	l.validate = func(ctx context.Context, a admission.Attributes) error {
		if attempts++; attempts == 1 {
			again := l.validate
			l.validate = nil
			merge(`{"port":"2"}`, resource.WriteOptions{})
			l.validate = again
		}
		was, err := a.GetOldObjectAt(ctx, "v1")
		a.Warn(fmt.Sprint("it was ", was["host"], ":", was["port"]))
		return err
	}
	var told []string
	merge(`{"metadata":{"labels":{"a":"b"}}}`, resource.WriteOptions{Warn: func(text string) { told = append(told, text) }})
	if want := []string{"it was h:2"}; attempts != 2 || !slices.Equal(told, want) {
		t.Errorf("%d attempts, and told was %q, want %q", attempts, told, want)
	}
}

// What is put over a new state takes nobody's fields away, and leaves the state as it is.
func TestAnOverlayKeepsTheManagers_ADM(t *testing.T) {
	w, l := watched(t)
	asked := false
	l.mutate = func(ctx context.Context, a admission.Attributes) error {
		asked = true
		over, err := a.Overlay(ctx, "v1", map[string]any{"apiVersion": "example.com/v1", "kind": "CronTab", "host": "over"})
		if err != nil {
			return err
		}
		is, err := a.GetObjectAt(ctx, "v1")
		if err != nil {
			return err
		}
		kept, had := object.Detach(object.Clone(over)), object.Detach(object.Clone(is))
		if over["host"] != "over" || is["host"] != "h" || over["port"] != "1" || len(had) == 0 || string(kept) != string(had) {
			t.Errorf("%v over %v", over, is)
		}
		return nil
	}
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	if !asked {
		t.Error("nobody asked")
	}
}

// What mutating admission makes of managedFields is kept if it can be read, and else what it was.
func TestOwnersAfterAdmission_MF(t *testing.T) {
	w, l := watched(t)
	for name, c := range map[string]struct {
		fields any // nil for none
		want   string
		warned bool
		fails  bool
	}{
		"as they are": {"as they are", `"manager":"client"`, false, false},
		"others":      {[]any{map[string]any{"manager": "hook", "operation": "Update", "apiVersion": "example.com/v1", "fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:host": map[string]any{}}}}, `"manager":"hook"`, false, false},
		"odd ones":    {[]any{map[string]any{"manager": "hook", "operation": "Odd"}}, `"manager":"client"`, true, false},
		"no list":     {[]any{"x"}, "", false, true},
		"none":        {nil, "", false, false},
	} {
		l.mutate = func(ctx context.Context, a admission.Attributes) error {
			tree, err := a.GetObjectAt(ctx, "v1")
			if err != nil {
				return err
			}
			tree = object.Clone(tree)
			meta := tree["metadata"].(map[string]any)
			if c.fields == nil {
				delete(meta, "managedFields")
			} else if c.fields != "as they are" {
				object.Detach(tree)
				meta["managedFields"] = c.fields
			}
			return a.Replace(ctx, "v1", tree)
		}
		var warnings []string
		o := resource.WriteOptions{Caller: resource.Caller{FieldManager: "client"}, Warn: func(text string) { warnings = append(warnings, text) }}
		out, err := w.Create(w.ctx(), w.at(v1, ""), []byte(tab(v1, strings.ReplaceAll(name, " ", "-"), "h", "1")), o)
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err != nil {
			continue
		}
		if warned := slices.ContainsFunc(warnings, func(x string) bool {
			return strings.HasPrefix(x, ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ")
		}); warned != c.warned {
			t.Errorf("%s: warned %q", name, warnings)
		}
		if c.want == "" && strings.Contains(string(out.Object), "managedFields") || !strings.Contains(string(out.Object), c.want) {
			t.Errorf("%s: %s", name, out.Object)
		}
	}
}

// What is sent and not stored is prepared between the phases, and refused by whoever refuses it.
func TestJudgedAreRefused(t *testing.T) {
	w, l := watched(t)
	no := apierrors.NewBadRequest("no")
	for name, c := range map[string]struct {
		mutates, prepares, validates error
		connects                     bool
		want                         []string
	}{
		"allowed":      {nil, nil, nil, false, []string{"mutate CREATE", "prepare", "validate CREATE"}},
		"a connection": {nil, nil, nil, true, []string{"mutate CONNECT", "prepare", "validate CONNECT"}},
		"not mutated":  {no, nil, nil, false, []string{"mutate CREATE"}},
		"not prepared": {nil, no, nil, false, []string{"mutate CREATE", "prepare"}},
		"not allowed":  {nil, nil, no, false, []string{"mutate CREATE", "prepare", "validate CREATE"}},
	} {
		var log []string
		l.mutate = func(_ context.Context, a admission.Attributes) error {
			log = append(log, "mutate "+string(a.GetOperation()))
			if states, err := a.GetLabels(); err != nil || (states == nil) != c.connects || a.GetKind().Kind != "TokenRequest" {
				t.Errorf("%s: %v, %v, %v", name, states, err, a.GetKind())
			}
			return c.mutates
		}
		sent := &authenticationv1.TokenRequest{}
		l.validate = func(ctx context.Context, a admission.Attributes) error {
			log = append(log, "validate "+string(a.GetOperation()))
			tree, err := a.GetObjectAt(ctx, "v1")
			if spec, _ := tree["spec"].(map[string]any); err != nil || fmt.Sprint(spec["audiences"]) != "[prepared]" {
				t.Errorf("%s: validated %v, %v", name, tree, err)
			}
			return c.validates
		}
		err := w.Judge(w.ctx(), w.builtin("serviceaccounts", "default", "one"), resource.Sent{
			Kind: authenticationv1.SchemeGroupVersion.WithKind("TokenRequest"), Object: sent, Connects: c.connects,
			Prepare: func(context.Context) error {
				log = append(log, "prepare")
				sent.Spec.Audiences = []string{"prepared"}
				return c.prepares
			},
		}, resource.WriteOptions{})
		if refuses := errors.Is(err, no); refuses != (c.mutates != nil || c.prepares != nil || c.validates != nil) || !refuses && err != nil || !slices.Equal(log, c.want) {
			t.Errorf("%s: %v, %q", name, err, log)
		}
	}
}

// Questions are validated and admitted, and answered once they are.
func TestReviewsAreRefused(t *testing.T) {
	w, l := watched(t)
	no := apierrors.NewBadRequest("no")
	const good = `"spec":{"user":"ann","nonResourceAttributes":{"path":"/","verb":"get"}}`
	for name, c := range map[string]struct {
		plural, namespace, body string
		validates, answers      error
		want                    string
	}{
		"answered":             {"subjectaccessreviews", "", good, nil, nil, ""},
		"not answered":         {"subjectaccessreviews", "", good, nil, no, "no"},
		"not allowed":          {"subjectaccessreviews", "", good, no, nil, "no"},
		"no question":          {"subjectaccessreviews", "", `"spec":{}`, nil, nil, "Invalid value"},
		"another namespace":    {"localsubjectaccessreviews", "default", `"metadata":{"namespace":"other"},"spec":{"user":"ann","resourceAttributes":{"namespace":"default","verb":"get"}}`, nil, nil, "namespace"},
		"of nobody's metadata": {"subjectaccessreviews", "", `"metadata":{"managedFields":"x"},` + good, nil, nil, "managedFields"},
	} {
		r, v := w.catalog.Snapshot().Find("authorization.k8s.io", "v1", c.plural)
		l.validate = func(context.Context, admission.Attributes) error { return c.validates }
		answered := false
		out, err := w.Review(w.ctx(), resource.Target{Resource: r, Version: v, Namespace: c.namespace}, []byte(`{"apiVersion":"authorization.k8s.io/v1","kind":"`+r.Def.Kind+`",`+c.body+`}`), resource.WriteOptions{},
			func(tree map[string]any) error {
				answered = true
				tree["status"] = map[string]any{"allowed": true}
				return c.answers
			})
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) || answered != (c.answers != nil) {
				t.Errorf("%s: %v, answered %v", name, err, answered)
			}
		} else if err != nil || !out.Created || !strings.Contains(string(out.Object), `"allowed":true`) {
			t.Errorf("%s: %v, %+v", name, err, out)
		}
	}
}

// undeleting is a store that does not say whether it deletes.
type undeleting struct{ storage.Store }

func (s undeleting) While(key string, rev int64) storage.GuardedWriter {
	return deaf{s.Store.While(key, rev)}
}

type deaf struct{ storage.GuardedWriter }

func (deaf) Delete(context.Context, string, int64) (int64, error) {
	return 0, &storage.Error{Kind: storage.Unavailable}
}

// Only what cannot be read is deleted without regard to anything.
func TestDeleteUnreadable_DEL(t *testing.T) {
	w := newWorld(t)
	w.put("bad", "x")
	w.create(w.at(v1, ""), tab(v1, "good", "h", "1"))
	yes, seconds := true, int64(-1)
	const exclusive = "is exclusively used to delete corrupt object(s), try again by removing this option"
	for _, c := range []struct {
		name    string
		options metav1.DeleteOptions
		want    string
	}{
		{"good", metav1.DeleteOptions{}, exclusive}, {"none", metav1.DeleteOptions{}, exclusive},
		{"bad", metav1.DeleteOptions{DryRun: []string{"All"}}, "cannot be set together with .dryRun"},
		{"bad", metav1.DeleteOptions{GracePeriodSeconds: &seconds}, "gracePeriodSeconds"},
		{"bad", metav1.DeleteOptions{}, ""}, {"bad", metav1.DeleteOptions{}, exclusive},
	} {
		c.options.IgnoreStoreReadErrorWithClusterBreakingPotential = &yes
		err := w.DeleteUnreadable(w.ctx(), w.at(v1, c.name), &c.options)
		if (err == nil) != (c.want == "") || err != nil && (!apierrors.IsInvalid(err) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	gone, cancel := context.WithCancel(w.ctx())
	w.put("bad", "x")
	w.Writer.store = undeleting{w.store}
	refused(t, w.DeleteUnreadable(w.ctx(), w.at(v1, "bad"), &metav1.DeleteOptions{}), 500, "", "the store did not confirm the write")
	if cancel(); w.DeleteUnreadable(gone, w.at(v1, "good"), &metav1.DeleteOptions{}) == nil {
		t.Error("a store that does not answer deletes")
	}
	if _, err := w.entry(w.ctx(), w.at(v1, "good")); err != nil {
		t.Error(err)
	}
}

// What a mutating plugin makes of an object at another version is what is written, and a
// mistake that it finds refuses a change that the kind itself would accept at once.
func TestWhatMutatorsSayCounts_ADM(t *testing.T) {
	w, l := watched(t)
	l.mutate = func(ctx context.Context, a admission.Attributes) error {
		tree, err := a.GetObjectAt(ctx, "v1beta1")
		if err != nil {
			return err
		}
		tree["hostPort"] = "other:9"
		return a.Replace(ctx, "v1beta1", tree)
	}
	made := w.must(w.Create(w.ctx(), w.at(v1, ""), []byte(tab(v1, "one", "h", "1", `"labels":{"a":"b"}`)), resource.WriteOptions{}))
	if made.Object["host"] != "other" || made.Object["port"] != "9" {
		t.Errorf("what is made is %v", made.Object)
	}
	l.mutate = func(_ context.Context, a admission.Attributes) error {
		a.AddErrors(field.Invalid(field.NewPath("host"), "x", "is none"))
		return nil
	}
	if _, err := w.Patch(w.ctx(), w.at(v1, "one"), types.MergePatchType, []byte(`{"host":"x"}`), resource.WriteOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "is none") {
		t.Errorf("a change with a mistake: %v", err)
	}
}

// Plugins are told of a namespace what is stored of it, and of none that it is not there.
func TestWhatPluginsSeeOfNamespaces_ADM(t *testing.T) {
	w, l := watched(t)
	w.create(w.builtin("namespaces", "", ""), `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"red","labels":{"a":"b"},"finalizers":["example.com/f"]}}`)
	w.create(w.builtin("namespaces", "", ""), `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"going","finalizers":["example.com/f"]}}`)
	w.must(w.Delete(w.ctx(), w.builtin("namespaces", "", "going"), &metav1.DeleteOptions{}, resource.WriteOptions{}))
	asked := 0
	l.validate = func(ctx context.Context, a admission.Attributes) error {
		for name, want := range map[string]string{"red": "kubernetes.io/metadata.name=red,a=b", "going": "kubernetes.io/metadata.name=going"} {
			asked++
			set, err := a.GetNamespaceLabels(ctx, name)
			whole, err2 := a.GetNamespaceObject(ctx, name)
			going, err3 := a.IsNamespaceTerminating(ctx, name)
			if err := errors.Join(err, err2, err3); err != nil || going != (name == "going") || labels.FormatLabels(set) != labels.FormatLabels(whole.Labels) || whole.Name != name {
				t.Errorf("%s: labels %v, %v, going %v, %v", name, set, whole, going, err)
			}
			if all, err := labels.Parse(want); err != nil || !all.Matches(set) {
				t.Errorf("%s: labels %v, %v", name, set, err)
			}
		}
		_, err := a.GetNamespaceLabels(ctx, "none")
		_, err2 := a.GetNamespaceObject(ctx, "none")
		_, err3 := a.IsNamespaceTerminating(ctx, "none")
		if !apierrors.IsNotFound(err) || !apierrors.IsNotFound(err2) || !apierrors.IsNotFound(err3) {
			t.Errorf("of none: %v, %v, %v", err, err2, err3)
		}
		return nil
	}
	if w.create(w.at(v1, ""), tab(v1, "one", "h", "1")); asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}
