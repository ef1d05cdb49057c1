package plugin_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/admission/plugin"
)

// What those that are on by default decide is compared with kube-apiserver's in
// test/story/standards; here are the others, and what no recording shows.

// kept are objects of one kind, and how often somebody waited for them to be fresh.
type kept struct {
	all     []*unstructured.Unstructured
	waited  int
	missing error
}

func (k *kept) Fresh(context.Context) error { k.waited++; return nil }

func (k *kept) List(context.Context, schema.GroupResource, string) ([]*unstructured.Unstructured, error) {
	return k.all, k.missing
}

func (k *kept) Get(_ context.Context, gr schema.GroupResource, _, name string) (*unstructured.Unstructured, error) {
	for _, o := range k.all {
		if o.GetName() == name {
			return o, nil
		}
	}
	return nil, apierrors.NewNotFound(gr, name)
}

func asked(t *testing.T, resource, object, old string) *admissiontest.Attributes {
	t.Helper()
	a := &admissiontest.Attributes{
		Objects: &admissiontest.Objects{After: admissiontest.Tree(t, object)}, Operation: admission.Create,
		Resource: schema.GroupVersionResource{Version: "v1", Resource: resource}, Namespace: "n", Name: "x",
	}
	if old != "" {
		a.Operation, a.Before = admission.Update, admissiontest.Tree(t, old)
	}
	return a
}

// edited is an object as an editor leaves it; "" where it does not look at it.
func edited(t *testing.T, e admission.Editor, a *admissiontest.Attributes) string {
	t.Helper()
	if !e.Edits(a.Operation, a.Resource.GroupResource(), a.Subresource) {
		return ""
	}
	if _, err := e.Edit(t.Context(), a, a.After); err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(a.After["spec"])
	return string(text)
}

func TestTheNewestDefaultClassCounts(t *testing.T) {
	class := func(name, created, mark string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: admissiontest.Tree(t, `{"metadata":{"name":"`+name+`","creationTimestamp":"`+created+`","annotations":{`+mark+`}}}`)}
	}
	const yes, beta, no = `"storageclass.kubernetes.io/is-default-class":"true"`, `"storageclass.beta.kubernetes.io/is-default-class":"true"`, `"storageclass.kubernetes.io/is-default-class":"false"`
	classes := &kept{all: []*unstructured.Unstructured{
		class("old", "2020-01-01T00:00:00Z", yes), class("b", "2021-01-01T00:00:00Z", yes), class("a", "2021-01-01T00:00:00Z", beta), class("newest", "2022-01-01T00:00:00Z", no),
	}}
	p := plugin.DefaultStorageClass{Classes: classes}
	if got := edited(t, p, asked(t, "persistentvolumeclaims", `{"spec":{}}`, "")); got != `{"storageClassName":"a"}` || classes.waited != 1 {
		t.Errorf("%s, waited %d times", got, classes.waited)
	}
	if got := edited(t, p, asked(t, "persistentvolumeclaims", `{"spec":{"storageClassName":""}}`, "")); got != `{"storageClassName":""}` || classes.waited != 1 {
		t.Errorf("a claim that wants no class: %s, waited %d times", got, classes.waited)
	}
	if got := edited(t, p, asked(t, "persistentvolumeclaims", `{"spec":{}}`, `{"spec":{}}`)); got != "" {
		t.Errorf("an update: %s", got)
	}
	gone := plugin.DefaultStorageClass{Classes: &kept{missing: apierrors.NewNotFound(schema.GroupResource{Resource: "storageclasses"}, "")}}
	if got := edited(t, gone, asked(t, "persistentvolumeclaims", `{"spec":{}}`, "")); got != "{}" {
		t.Errorf("where classes are not served: %s", got)
	}
}

func TestImagesAreAlwaysPulled(t *testing.T) {
	const odd = `{"spec":{"initContainers":[{"name":"a","image":"i","imagePullPolicy":"Never"}],"containers":[{"name":"b","image":"i"}],"volumes":[{"name":"v","image":{"reference":"r","pullPolicy":"IfNotPresent"}},{"name":"e","emptyDir":{}}]}}`
	const always = `{"containers":[{"image":"i","imagePullPolicy":"Always","name":"b"}],"initContainers":[{"image":"i","imagePullPolicy":"Always","name":"a"}],"volumes":[{"image":{"pullPolicy":"Always","reference":"r"},"name":"v"},{"emptyDir":{},"name":"e"}]}`
	p := plugin.AlwaysPullImages{}
	a := asked(t, "pods", odd, "")
	err := p.Validate(t.Context(), a)
	for _, want := range []string{`spec.initContainers[0].imagePullPolicy: Unsupported value: "Never": supported values: "Always"`, `spec.containers[0].imagePullPolicy: Unsupported value: ""`, `spec.volumes[0].image.pullPolicy: Unsupported value: "IfNotPresent"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v has not %s", err, want)
		}
	}
	if got := edited(t, p, a); got != always {
		t.Errorf("%s", got)
	}
	if err := p.Validate(t.Context(), a); err != nil {
		t.Error(err)
	}
	// An update that brings no image leaves a pod as it was made before the plugin was on.
	if same := asked(t, "pods", odd, odd); p.Validate(t.Context(), same) != nil || edited(t, p, same) == always {
		t.Error("a pod whose images are the same is changed or refused")
	}
	if other := asked(t, "pods", strings.ReplaceAll(odd, `"image":"i"`, `"image":"j"`), odd); p.Validate(t.Context(), other) == nil {
		t.Error("another image is taken")
	}
	status := asked(t, "pods", odd, "")
	status.Subresource = "status"
	if p.Validate(t.Context(), status) != nil || edited(t, p, status) != "" {
		t.Error("a status is judged")
	}
}

func TestExternalIPsAreDenied(t *testing.T) {
	service := func(ips string) string { return `{"metadata":{"name":"x"},"spec":{"externalIPs":[` + ips + `]}}` }
	for _, c := range []struct {
		ips, old string
		denied   bool
	}{
		{``, ``, false}, {`"1.2.3.4"`, ``, true}, {`"1.2.3.4"`, service(`"1.2.3.4","5.6.7.8"`), false}, {`"1.2.3.4","9.9.9.9"`, service(`"1.2.3.4"`), true}, {``, service(`"1.2.3.4"`), false},
	} {
		err := plugin.DenyServiceExternalIPs{}.Validate(t.Context(), asked(t, "services", service(c.ips), c.old))
		if (err != nil) != c.denied || c.denied && err.Error() != `services "x" is forbidden: Use of external IPs is denied by admission control` {
			t.Errorf("%s after %q: %v", c.ips, c.old, err)
		}
	}
}

func TestHugeSizesAreNotCompared(t *testing.T) {
	claim := func(size string) string {
		return `{"metadata":{"name":"x"},"spec":{"storageClassName":"c","resources":{"requests":{"storage":"` + size + `"}}},"status":{"phase":"Bound"}}`
	}
	p := plugin.PersistentVolumeClaimResize{Classes: &kept{}}
	if err := p.Validate(t.Context(), asked(t, "persistentvolumeclaims", claim("1e2000000000"), claim("1Gi"))); !apierrors.IsForbidden(err) {
		t.Error(err)
	}
	if err := p.Validate(t.Context(), asked(t, "persistentvolumeclaims", claim("2Gi"), claim("1Gi"))); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "must support resize") {
		t.Errorf("a class that is gone: %v", err)
	}
}
