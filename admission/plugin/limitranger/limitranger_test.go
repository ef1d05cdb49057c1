package limitranger_test

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/admission/plugin/limitranger"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/quota"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

func tree(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	out, _, err := object.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: out}
}

// A request may hold thousands of containers and a LimitRange thousands of
// names: their product is refused before it takes all memory.
func TestLimitRangesAreAskedOnlySoMuch(t *testing.T) {
	store := storagetest.NewMemory()
	e := realengine.Over(t, store, func(e *engine.Engine) admission.Chain {
		return admissiontest.Chain(t, limitranger.Ranger{Ranges: quota.NewRanges(e.Catalog())})
	})
	if _, err := e.Create(t.Context(), gvr.Namespaces, tree(t, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"work"}}`)); err != nil {
		t.Fatal(err)
	}
	names := make([]string, 200)
	for i := range names {
		names[i] = fmt.Sprintf(`"example.com/r%d":"1"`, i)
	}
	list := strings.Join(names, ",")
	if _, err := e.Create(t.Context(), schema.GroupResource{Resource: "limitranges"}, tree(t, `{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"l","namespace":"work"},"spec":{"limits":[{"type":"Container","default":{`+list+`}}]}}`)); err != nil {
		t.Fatal(err)
	}
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	pods := schema.GroupResource{Resource: "pods"}
	pod := func(name string, containers int) *unstructured.Unstructured {
		all := make([]string, containers)
		for i := range all {
			all[i] = fmt.Sprintf(`{"name":"c%d","image":"i"}`, i)
		}
		return tree(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"`+name+`","namespace":"work"},"spec":{"containers":[`+strings.Join(all, ",")+`]}}`)
	}
	if _, err := e.Create(t.Context(), pods, pod("few", 5)); err != nil {
		t.Error(err)
	}
	if _, err := e.Create(t.Context(), pods, pod("many", 300)); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "name too many resources for so many containers") {
		t.Error(err)
	}
}

// A claim that is being deleted may change, so that it can go; another one may not, and
// of several mistakes the first by name is told first.
func TestClaimsThatAreBeingDeletedAreNotBounded(t *testing.T) {
	e := realengine.Over(t, storagetest.NewMemory(), func(e *engine.Engine) admission.Chain {
		return admissiontest.Chain(t, limitranger.Ranger{Ranges: quota.NewRanges(e.Catalog())})
	})
	claims := schema.GroupResource{Resource: "persistentvolumeclaims"}
	for _, o := range []struct {
		gr   schema.GroupResource
		text string
	}{
		{gvr.Namespaces, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"work"}}`},
		{claims, `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"stays","namespace":"work"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"5Gi"}}}}`},
		{claims, `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"goes","namespace":"work","finalizers":["example.com/f"]},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"5Gi"}}}}`},
		{schema.GroupResource{Resource: "limitranges"}, `{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"l","namespace":"work"},"spec":{"limits":[{"type":"PersistentVolumeClaim","max":{"storage":"1Gi","example.com/b":"1","example.com/a":"1"}}]}}`},
	} {
		if _, err := e.Create(t.Context(), o.gr, tree(t, o.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Delete(t.Context(), claims, "work", "goes", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, refused := range map[string]bool{"stays": true, "goes": false} {
		u, err := e.Get(t.Context(), claims, "work", name)
		if err != nil {
			t.Fatal(err)
		}
		u.SetLabels(map[string]string{"a": "b"})
		_, err = e.Update(t.Context(), claims, "", u)
		if refused != apierrors.IsForbidden(err) || !refused && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if refused && !strings.Contains(err.Error(), "[maximum example.com/a usage per PersistentVolumeClaim is 1.  No request is specified, maximum example.com/b usage") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a pod takes beside its containers, as its runtime class says, is not bounded.
func TestOverheadIsNotBounded(t *testing.T) {
	e := realengine.Over(t, storagetest.NewMemory(), func(e *engine.Engine) admission.Chain {
		return admissiontest.Chain(t, limitranger.Ranger{Ranges: quota.NewRanges(e.Catalog())})
	})
	for _, o := range []struct {
		gr   schema.GroupResource
		text string
	}{
		{gvr.Namespaces, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"work"}}`},
		{schema.GroupResource{Resource: "limitranges"}, `{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"l","namespace":"work"},"spec":{"limits":[{"type":"Pod","max":{"cpu":"1"}}]}}`},
	} {
		if _, err := e.Create(t.Context(), o.gr, tree(t, o.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for cpu, refused := range map[string]bool{"1": false, "1001m": true} {
		_, err := e.Create(t.Context(), gvr.Pods, tree(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p`+cpu+`","namespace":"work"},
			"spec":{"overhead":{"cpu":"500m"},"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"`+cpu+`"}}}]}}`))
		if refused != (err != nil) || refused && !strings.Contains(err.Error(), "maximum cpu usage per Pod is 1") {
			t.Errorf("%s: %v", cpu, err)
		}
	}
}
