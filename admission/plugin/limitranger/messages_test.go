package limitranger_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/admission/plugin/limitranger"
)

// ranges are the LimitRanges of every namespace but "broken".
type ranges []string

func (r ranges) In(namespace string) (all []*corev1.LimitRange, err error) {
	if namespace == "broken" {
		return nil, errors.New("no store")
	}
	for _, text := range r {
		one := &corev1.LimitRange{}
		err = errors.Join(err, json.Unmarshal([]byte(text), one))
		all = append(all, one)
	}
	return all, err
}

// limited is what a write of an object is asked with.
func limited(t *testing.T, resource, body string) *admissiontest.Attributes {
	t.Helper()
	return &admissiontest.Attributes{
		Objects:  &admissiontest.Objects{After: tree(t, body).Object},
		Resource: schema.GroupVersionResource{Version: "v1", Resource: resource}, Operation: admission.Create, Name: "x", Namespace: "n",
	}
}

func TestWhatLimitRangesRefuse(t *testing.T) {
	for _, c := range []struct{ limit, resource, spec, want string }{
		{`"type":"Container","min":{"cpu":"1"}`, "pods", `{"containers":[{"resources":{}}]}`, "minimum cpu usage per Container is 1.  No request is specified"},
		{`"type":"Container","min":{"cpu":"1"}`, "pods", `{"containers":[{"resources":{"requests":{"cpu":"1"}}}],"initContainers":[{"resources":{"requests":{"cpu":"500m"}}}]}`, "minimum cpu usage per Container is 1, but request is 500m"},
		{`"type":"Container","min":{"cpu":"1"}`, "pods", `{"containers":[{"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"1"}}}]}`, ""},
		{`"type":"Container","min":{"cpu":"1"}`, "pods", `{"containers":[{"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"900m"}}}]}`, "minimum cpu usage per Container is 1, but limit is 900m"},
		{`"type":"Container","max":{"cpu":"1"}`, "pods", `{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}`, "maximum cpu usage per Container is 1.  No limit is specified"},
		{`"type":"Container","max":{"cpu":"1"}`, "pods", `{"containers":[{"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"1"}}}]}`, ""},
		{`"type":"Container","max":{"cpu":"1"}`, "pods", `{"containers":[{"resources":{"limits":{"cpu":"1"}}}]}`, ""},
		{`"type":"Container","max":{"cpu":"1"}`, "pods", `{"containers":[{"resources":{"limits":{"cpu":"2"}}}]}`, "maximum cpu usage per Container is 1, but limit is 2"},
		{`"type":"Container","max":{"cpu":"1"}`, "pods", `{"containers":[{"resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1"}}}]}`, "maximum cpu usage per Container is 1, but request is 2"},
		{`"type":"Container","maxLimitRequestRatio":{"cpu":"2"}`, "pods", `{"containers":[{"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2"}}}]}`, ""},
		{`"type":"Container","maxLimitRequestRatio":{"cpu":"2"}`, "pods", `{"containers":[{"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2500m"}}}]}`, "cpu max limit to request ratio per Container is 2, but provided ratio is 2.500000"},
		{`"type":"Container","maxLimitRequestRatio":{"memory":"2"}`, "pods", `{"containers":[{"resources":{"requests":{"memory":"8E"},"limits":{"memory":"4E"}}}]}`, ""},
		{`"type":"Container","maxLimitRequestRatio":{"memory":"2"}`, "pods", `{"containers":[{"resources":{"requests":{"memory":"1"},"limits":{"memory":"8E"}}}]}`, "memory max limit to request ratio per Container is 2, but provided ratio is 8000000000000000000.000000"},
		{`"type":"Container","maxLimitRequestRatio":{"cpu":"2"}`, "pods", `{"containers":[{"resources":{"limits":{"cpu":"2"}}}]}`, "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0"},
		{`"type":"Container","maxLimitRequestRatio":{"cpu":"2"}`, "pods", `{"containers":[{"resources":{"requests":{"cpu":"2"}}}]}`, "cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0"},
		{`"type":"Pod","max":{"cpu":"1"}`, "pods", `{"overhead":{"cpu":"9"},"containers":[{"resources":{"limits":{"cpu":"600m"}}},{"resources":{"limits":{"cpu":"600m"}}}]}`, "maximum cpu usage per Pod is 1, but limit is 1200m"},
		{`"type":"Pod","max":{"cpu":"1"}`, "pods", `{"overhead":{"cpu":"9"},"containers":[{"resources":{"limits":{"cpu":"600m"}}}]}`, ""},
		{`"type":"PersistentVolumeClaim","min":{"storage":"1"}`, "persistentvolumeclaims", `{}`, "minimum storage usage per PersistentVolumeClaim is 1.  No request is specified"},
		{`"type":"PersistentVolumeClaim","min":{"storage":"1"},"max":{"storage":"3"}`, "persistentvolumeclaims", `{"resources":{"requests":{"storage":"3"}}}`, ""},
		{`"type":"PersistentVolumeClaim","max":{"storage":"3"}`, "persistentvolumeclaims", `{"resources":{"requests":{"storage":"4"}}}`, "maximum storage usage per PersistentVolumeClaim is 3, but request is 4"},
		{`"type":"PersistentVolumeClaim","max":{"storage":"3"}`, "persistentvolumeclaims", `{}`, "maximum storage usage per PersistentVolumeClaim is 3.  No request is specified"},
		{`"type":"Pod","min":{"storage":"3"}},{"type":"PersistentVolumeClaim","min":{"storage":"3"}`, "persistentvolumeclaims", `{"resources":{"requests":{"storage":"2"}}}`, "minimum storage usage per PersistentVolumeClaim is 3, but request is 2"},
		{`"type":"Container","min":{"cpu":"1"}`, "services", `{}`, ""},
	} {
		ranger := limitranger.Ranger{Ranges: ranges{`{"spec":{"limits":[]}}`, `{"spec":{"limits":[{` + c.limit + `}]}}`}}
		err, want := ranger.Validate(t.Context(), limited(t, c.resource, `{"metadata":{"name":"x"},"spec":`+c.spec+`}`)), ""
		if c.want != "" {
			want = c.resource + ` "x" is forbidden: ` + c.want
		}
		if got := errors.Join(err); (got == nil) != (want == "") || got != nil && got.Error() != want || got != nil && !apierrors.IsForbidden(err) {
			t.Errorf("%s of %s: %v, want %q", c.limit, c.spec, got, want)
		}
	}
}

// Of all LimitRanges those that say something complete a pod, also where the last of them
// says nothing, and no pod that lacks nothing is written again.
func TestWhatLimitRangesComplete(t *testing.T) {
	const gives = `{"spec":{"limits":[{"type":"Pod","default":{"cpu":"9"}},{"type":"Container","default":{"cpu":"2"},"defaultRequest":{"memory":"1","cpu":"1"}}]}}`
	const none = `{"spec":{"limits":[{"type":"Pod","max":{"cpu":"9"}}]}}`
	for _, all := range []ranges{{gives, none}, {none, gives}} {
		a := limited(t, "pods", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"a"},{"name":"b","resources":{"requests":{"cpu":"3"},"limits":{"cpu":"4"}}}],"initContainers":[{"name":"i"}]}}`)
		ranger := limitranger.Ranger{Ranges: all}
		if err := ranger.Mutate(t.Context(), a); err != nil || a.Replaced != 1 {
			t.Fatalf("%v: %v, %d times", all, err, a.Replaced)
		}
		said := a.After["metadata"].(map[string]any)["annotations"].(map[string]any)["kubernetes.io/limit-ranger"]
		if said != "LimitRanger plugin set: cpu, memory request for container a; cpu limit for container a; memory request for container b; cpu, memory request for init container i; cpu limit for init container i" {
			t.Errorf("%v: %v", all, said)
		}
		if err := ranger.Mutate(t.Context(), a); err != nil || a.Replaced != 1 {
			t.Errorf("%v once more: %v, %d times", all, err, a.Replaced)
		}
	}
	for what, change := range map[string]func(a *admissiontest.Attributes){
		"of no namespace":    func(a *admissiontest.Attributes) { a.Namespace = "broken" },
		"that cannot be had": func(a *admissiontest.Attributes) { a.Resource.Version = "broken" },
	} {
		a := limited(t, "pods", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"a"}]}}`)
		change(a)
		if err := (limitranger.Ranger{Ranges: ranges{gives}}).Mutate(t.Context(), a); err == nil || a.Replaced != 0 {
			t.Errorf("a pod %s: %v", what, err)
		}
	}
}

// What is asked about: new pods and claims, new sizes of pods, and claims that change and
// are not being deleted. What cannot be read of them is told.
func TestWhatLimitRangesAreAskedAbout(t *testing.T) {
	for _, c := range []struct {
		resource, subresource string
		operation             admission.Operation
		want                  bool
	}{
		{"pods", "", admission.Create, true}, {"pods", "binding", admission.Create, false}, {"pods", "", admission.Update, false},
		{"pods", "resize", admission.Update, true}, {"pods", "status", admission.Update, false}, {"pods", "resize", admission.Create, false},
		{"persistentvolumeclaims", "", admission.Create, true}, {"persistentvolumeclaims", "", admission.Update, true},
		{"persistentvolumeclaims", "status", admission.Update, false}, {"persistentvolumeclaims", "resize", admission.Update, false}, {"secrets", "", admission.Create, false},
		{"secrets", "", admission.Update, false},
	} {
		a := limited(t, c.resource, `{"metadata":{"name":"x"},"spec":1}`)
		a.Before, a.Subresource, a.Operation = tree(t, `{"metadata":{"name":"x"}}`).Object, c.subresource, c.operation
		err := limitranger.Ranger{Ranges: ranges{`{"spec":{"limits":[]}}`}}.Validate(t.Context(), a)
		if (err != nil) != c.want || err != nil && !strings.Contains(err.Error(), "cannot restore") {
			t.Errorf("%v: %v", c, err)
		}
	}
	a := limited(t, "persistentvolumeclaims", `{"metadata":{"name":"x"},"spec":1}`)
	a.Operation, a.Before = admission.Update, tree(t, `{"metadata":{"name":"x","deletionTimestamp":"2026-01-01T00:00:00Z"}}`).Object
	if err := (limitranger.Ranger{Ranges: ranges{`{"spec":{"limits":[]}}`}}).Validate(t.Context(), a); err != nil {
		t.Errorf("a claim that is being deleted: %v", err)
	}
	a = limited(t, "pods", `{"metadata":{"name":"x"},"spec":{}}`)
	a.Namespace = "broken"
	if err := (limitranger.Ranger{Ranges: ranges{}}).Validate(t.Context(), a); err == nil || err.Error() != "no store" {
		t.Errorf("of no namespace: %v", err)
	}
}
