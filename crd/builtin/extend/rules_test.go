package extend

import (
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

// Namespaces that every cluster has stay; others are being emptied from then on.
func TestNamespacesThatMayBeDeleted(t *testing.T) {
	hooks := Of(schema.GroupResource{Resource: "namespaces"}).Hooks
	for name, stays := range map[string]bool{"default": true, "kube-system": true, "kube-public": true, "kube-node-lease": false, "other": false} {
		obj := treeOf(t, `{"metadata":{"name":"`+name+`"},"status":{"phase":"Active"}}`)
		err := hooks.BeforeDelete(t.Context(), nil, obj)
		phase := object.TextAt(obj, "status", "phase")
		if stays && (!apierrors.IsForbidden(err) || err.Error() != `namespaces "`+name+`" is forbidden: this namespace may not be deleted` || phase != "Active") || !stays && (err != nil || phase != "Terminating") {
			t.Errorf("%s: %v, it is %s", name, err, phase)
		}
	}
	for text, want := range map[string]bool{`{"spec":{"finalizers":["kubernetes"]}}`: true, `{"spec":{"finalizers":[]}}`: false, `{}`: false} {
		if got := hooks.StillFinalizing(treeOf(t, text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

// Priority classes of the system stay.
func TestPriorityClassesThatMayBeDeleted(t *testing.T) {
	hooks := Of(schema.GroupResource{Group: "scheduling.k8s.io", Resource: "priorityclasses"}).Hooks
	for name, stays := range map[string]bool{"system-node-critical": true, "system-": true, "system": false, "mine": false} {
		err := hooks.BeforeDelete(t.Context(), nil, treeOf(t, `{"metadata":{"name":"`+name+`"}}`))
		kept, is := err.(*crd.Kept)
		if is != stays || !stays && err != nil || stays && kept.Refusal.Error() != `priorityclasses.scheduling.k8s.io "`+name+`" is forbidden: this is a system priority class and cannot be deleted` {
			t.Errorf("%s: %v", name, err)
		}
	}
	if hooks.StillFinalizing(nil) {
		t.Error("a priority class is finalized")
	}
}

// A pod on a node ends when it is asked to, or says itself; one that does not run at once.
func TestHowLongPodsMayTakeToEnd(t *testing.T) {
	grace := Of(schema.GroupResource{Resource: "pods"}).Grace
	seven, none := int64(7), int64(0)
	for _, c := range []struct {
		pod   string
		asked *int64
		want  int64
	}{
		{`{"spec":{"nodeName":"n","terminationGracePeriodSeconds":30}}`, nil, 30},
		{`{"spec":{"nodeName":"n","terminationGracePeriodSeconds":30}}`, &seven, 7},
		{`{"spec":{"nodeName":"n","terminationGracePeriodSeconds":30}}`, &none, 0},
		{`{"spec":{"nodeName":"n","terminationGracePeriodSeconds":-1}}`, nil, 0},
		{`{"spec":{"nodeName":"n"}}`, nil, 0},
		{`{"spec":{"terminationGracePeriodSeconds":30}}`, &seven, 0},
		{`{"spec":{"nodeName":"n","terminationGracePeriodSeconds":30},"status":{"phase":"Succeeded"}}`, &seven, 0},
		{`{"spec":{"nodeName":"n","terminationGracePeriodSeconds":30},"status":{"phase":"Failed"}}`, &seven, 0},
		{`{"spec":{"nodeName":"n","terminationGracePeriodSeconds":30},"status":{"phase":"Running"}}`, &seven, 7},
	} {
		if got := grace(treeOf(t, c.pod), c.asked); got != c.want {
			t.Errorf("%s: %d, want %d", c.pod, got, c.want)
		}
	}
}

// FlowSchemas are shown in the order in which they are asked, and then in that of their names.
func TestOrderOfFlowSchemas(t *testing.T) {
	order := Of(schema.GroupResource{Group: "flowcontrol.apiserver.k8s.io", Resource: "flowschemas"}).RowOrder
	schemas := []string{`{"metadata":{"name":"z"}}`, `{"metadata":{"name":"b"},"spec":{"matchingPrecedence":1}}`, `{"metadata":{"name":"c"},"spec":{"matchingPrecedence":1}}`, `{"metadata":{"name":"a"},"spec":{"matchingPrecedence":2}}`}
	for i, a := range schemas {
		for j, b := range schemas {
			if got := order(treeOf(t, a), treeOf(t, b)); got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("%s and %s: %d", a, b, got)
			}
		}
	}
}

// An annotation stands for a profile of AppArmor, where no field says another.
func TestProfilesByAnnotations(t *testing.T) {
	for annotation, want := range map[string]map[string]any{
		"runtime/default": {"type": "RuntimeDefault"}, "unconfined": {"type": "Unconfined"}, "localhost/p": {"type": "Localhost", "localhostProfile": "p"}, "localhost/": nil, "odd": nil, "": nil,
	} {
		if got := profileOf(annotation); !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %v", annotation, got)
		}
		for _, c := range []struct {
			spec string
			want map[string]any
		}{
			{`{"containers":[{"name":"c"}]}`, want}, {`{"os":{"name":"windows"},"containers":[{"name":"c"}]}`, nil}, {`{"containers":[{"name":"d"}]}`, nil},
			{`{"containers":[{"name":"c","securityContext":{"appArmorProfile":{"type":"Odd"}}}]}`, map[string]any{"type": "Odd"}},
		} {
			spec := treeOf(t, c.spec)
			confineByAnnotations(spec, map[string]any{"annotations": map[string]any{"container.apparmor.security.beta.kubernetes.io/c": annotation}})
			if got := object.Child(object.Objects(spec["containers"])[0], "securityContext", "appArmorProfile"); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%q in %s: %v, want %v", annotation, c.spec, got, c.want)
			}
		}
	}
}

// A field and an annotation that contradict each other are told of, and by what.
func TestProfilesThatContradictAnnotations(t *testing.T) {
	for _, c := range []struct{ annotation, profile, want string }{
		{"unconfined", `{"type":"Unconfined"}`, ""}, {"localhost/p", `{"type":"Localhost","localhostProfile":"p"}`, ""},
		{"unconfined", `{"type":"RuntimeDefault"}`, "spec.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match"},
		{"localhost/p", `{"type":"Localhost","localhostProfile":"q"}`, "spec.containers[0].securityContext.appArmorProfile.localhostProfile: Forbidden: apparmor profile in annotation and field must match"},
	} {
		for _, spec := range []string{`{"containers":[{"name":"c","securityContext":{"appArmorProfile":` + c.profile + `}}]}`, `{"securityContext":{"appArmorProfile":` + c.profile + `},"containers":[{"name":"c"}]}`} {
			obj := treeOf(t, `{"metadata":{"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"`+c.annotation+`"}},"spec":`+spec+`}`)
			var got string
			if all := validatePodAnnotations(obj, nil).ToAggregate(); all != nil {
				got = all.Error()
			}
			if got != c.want {
				t.Errorf("%s in %s: %s", c.annotation, spec, got)
			}
			if errs := validatePodAnnotations(obj, obj); errs != nil {
				t.Errorf("%s in %s that was there: %v", c.annotation, spec, errs)
			}
		}
	}
}

// A secret keeps its type where nobody says one, and is only so large.
func TestSecretsThatAreWritten(t *testing.T) {
	f := Of(schema.GroupResource{Resource: "secrets"})
	for now, want := range map[string]string{`{}`: "Old", `{"type":""}`: "Old", `{"type":"New"}`: "New"} {
		obj := treeOf(t, now)
		if f.PrepareUpdate("", obj, map[string]any{"type": "Old"}); obj["type"] != want {
			t.Errorf("%s has type %v", now, obj["type"])
		}
	}
	secret := func(frozen *bool, sizes ...int) *corev1.Secret {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "n", ResourceVersion: "7"}, Immutable: frozen, Data: map[string][]byte{}}
		for i, n := range sizes {
			s.Data[string(rune('a'+i))] = make([]byte, n)
		}
		return s
	}
	yes, no := true, false
	const frozen = "field is immutable when `immutable` is set"
	for _, c := range []struct {
		now, was *corev1.Secret
		want     string
	}{
		{secret(nil, 1<<20), nil, ""}, {secret(nil, 1<<19, 1<<19+1), nil, "data: may not be more than 1048576 bytes"},
		{secret(nil, 2), secret(nil, 1), ""}, {secret(nil, 2), secret(&no, 1), ""}, {secret(&yes, 2), secret(nil, 1), ""}, {secret(&yes, 1), secret(&yes, 1), ""},
		{secret(&yes, 2), secret(&yes, 1), "data: " + frozen}, {secret(nil, 1), secret(&yes, 1), "immutable: " + frozen}, {secret(&no, 2), secret(&yes, 1), "immutable: " + frozen + ";data: " + frozen},
	} {
		var got []string
		for _, e := range validateSecret("", c.now, c.was) {
			got = append(got, e.Field+": "+e.Detail)
		}
		if all := strings.Join(got, ";"); all != c.want {
			t.Errorf("%d bytes, immutable %v: %s, want %s", len(c.now.Data["a"]), c.now.Immutable, all, c.want)
		}
	}
}

// What is new in an annotation of an account is warned of, once; limits have a name.
func TestAccountsAndLimits(t *testing.T) {
	warn := Of(schema.GroupResource{Resource: "serviceaccounts"}).Warn
	set := treeOf(t, `{"metadata":{"annotations":{"kubernetes.io/enforce-mountable-secrets":"true"}}}`)
	if got := warn(set, nil); len(got) != 1 || !strings.HasPrefix(got[0], "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+") {
		t.Errorf("of a new one: %q", got)
	}
	if got := warn(set, treeOf(t, `{}`)); len(got) != 1 {
		t.Errorf("of one that has it now: %q", got)
	}
	if warn(set, set) != nil || warn(treeOf(t, `{}`), nil) != nil || warn(treeOf(t, `{}`), set) != nil {
		t.Error("it is warned of what is not new")
	}
	name := Of(schema.GroupResource{Resource: "limitranges"}).PrepareCreate
	without, with := treeOf(t, `{}`), treeOf(t, `{"metadata":{"name":"l"}}`)
	name(t.Context(), without)
	name(t.Context(), with)
	if len(object.TextAt(without, "metadata", "name")) != 36 || object.TextAt(with, "metadata", "name") != "l" {
		t.Errorf("the names are %v and %v", without, with)
	}
}

// Conditions of a signing request that can only be true are, and each has its times.
func TestConditionsOfSigningRequests(t *testing.T) {
	status := treeOf(t, `{"conditions":[{"type":"Approved","status":"False"},{"type":"Denied","status":"Unknown"},{"type":"Failed","status":"True"},{"type":"Odd","status":"False"},7]}`)
	var got []string
	for _, e := range untrue(MetadataPath, status) {
		got = append(got, e.Error())
	}
	if want := `metadata[0].status: Unsupported value: "False": supported values: "True";metadata[1].status: Unsupported value: "Unknown": supported values: "True"`; strings.Join(got, ";") != want {
		t.Errorf("%q", got)
	}
	const before, said = "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"
	now := treeOf(t, `{"conditions":[7,{"type":"A","status":"True"},{"type":"B","status":"True"},{"type":"C","status":"True","lastUpdateTime":"`+said+`","lastTransitionTime":"`+said+`"}]}`)
	dateConditions(now, treeOf(t, `{"conditions":[{"type":"A","status":"True","lastTransitionTime":"`+before+`"},{"type":"B","status":"False","lastTransitionTime":"`+before+`"},{"type":"C","status":"True","lastTransitionTime":"`+before+`"}]}`))
	for i, want := range []string{before, "now", said} {
		c := object.Objects(now["conditions"])[i]
		at, err := time.Parse(time.RFC3339, object.TextAt(c, "lastTransitionTime"))
		if err != nil || want == "now" && time.Since(at) > time.Hour || want != "now" && object.TextAt(c, "lastTransitionTime") != want || (object.TextAt(c, "lastUpdateTime") == said) != (want == said) || c["lastUpdateTime"] == nil {
			t.Errorf("%v, want %s", c, want)
		}
	}
}
