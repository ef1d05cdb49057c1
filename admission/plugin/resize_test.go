package plugin

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
)

// A claim grows where its class lets it, once it is bound; it may always shrink or stay.
func TestClaimsGrowAsTheirClassSays(t *testing.T) {
	classes := shelf{all: map[string]map[string]any{"grows": {"allowVolumeExpansion": true}, "fixed": {"allowVolumeExpansion": false}, "silent": {}}}
	claim := func(size, class, phase string) map[string]any {
		return admissiontest.Tree(t, `{"metadata":{"name":"x"},"spec":{"storageClassName":"`+class+`","resources":{"requests":{"storage":"`+size+`"}}},"status":{"phase":"`+phase+`"}}`)
	}
	const never, bound = "only dynamically provisioned pvc can be resized", "Only bound persistent volume claims can be expanded"
	for name, c := range map[string]struct {
		was, now map[string]any
		classes  shelf
		want     string
	}{
		"it grows":                          {claim("1Gi", "grows", "Bound"), claim("2Gi", "grows", "Bound"), classes, ""},
		"it stays":                          {claim("1Gi", "fixed", "Bound"), claim("1024Mi", "fixed", "Bound"), classes, ""},
		"it shrinks":                        {claim("2Gi", "fixed", "Pending"), claim("1Gi", "fixed", "Pending"), classes, ""},
		"it is not bound":                   {claim("1Gi", "grows", "Pending"), claim("2Gi", "grows", "Pending"), classes, bound},
		"its class does not let it":         {claim("1Gi", "fixed", "Bound"), claim("2Gi", "fixed", "Bound"), classes, never},
		"its class says nothing":            {claim("1Gi", "silent", "Bound"), claim("2Gi", "silent", "Bound"), classes, never},
		"its class is gone":                 {claim("1Gi", "gone", "Bound"), claim("2Gi", "gone", "Bound"), classes, never},
		"it has none":                       {claim("1Gi", "", "Bound"), claim("2Gi", "", "Bound"), classes, never},
		"it comes to another":               {claim("1Gi", "fixed", "Bound"), claim("2Gi", "grows", "Bound"), classes, never},
		"its class cannot be read":          {claim("1Gi", "grows", "Bound"), claim("2Gi", "grows", "Bound"), shelf{get: errAway}, "the store is away"},
		"its class cannot be read recently": {claim("1Gi", "grows", "Bound"), claim("2Gi", "grows", "Bound"), shelf{stale: errAway, all: classes.all}, "the store is away"},
		"its size was none":                 {claim("much", "grows", "Bound"), claim("2Gi", "grows", "Bound"), classes, `persistentvolumeclaims "x" is forbidden`},
		"its size is none":                  {claim("1Gi", "grows", "Bound"), claim("much", "grows", "Bound"), classes, `persistentvolumeclaims "x" is forbidden`},
	} {
		a := asked(t, "persistentvolumeclaims", admission.Update, `{"metadata":{"name":"x"}}`)
		a.Before, a.After = c.was, c.now
		err := PersistentVolumeClaimResize{c.classes}.Validate(t.Context(), a)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Nothing else is a claim that grows.
func TestWhatIsNoGrowingClaim(t *testing.T) {
	for _, c := range []struct {
		o                     admission.Operation
		resource, subresource string
	}{{admission.Create, "persistentvolumeclaims", ""}, {admission.Update, "persistentvolumeclaims", "status"}, {admission.Update, "pods", ""}} {
		a := forgotten{asked(t, c.resource, c.o, `{"metadata":{"name":"x"}}`)}
		a.Subresource = c.subresource
		if err := (PersistentVolumeClaimResize{}).Validate(t.Context(), a); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// forgotten are requests whose former state cannot be had.
type forgotten struct{ *admissiontest.Attributes }

func (forgotten) GetOldObject(context.Context) (*unstructured.Unstructured, error) {
	return nil, errors.New("no conversion")
}

// Without the former state nobody knows what a change is.
func TestFormerStatesThatCannotBeHad(t *testing.T) {
	a := forgotten{asked(t, "persistentvolumeclaims", admission.Update, `{"metadata":{"name":"x"}}`)}
	if err := (PersistentVolumeClaimResize{}).Validate(t.Context(), a); err == nil {
		t.Error("a claim")
	}
	a = forgotten{asked(t, "services", admission.Update, `{"metadata":{"name":"x"},"spec":{"externalIPs":["192.0.2.1"]}}`)}
	if err := (DenyServiceExternalIPs{}).Validate(t.Context(), a); err == nil || !strings.Contains(err.Error(), "no conversion") {
		t.Errorf("a service: %v", err)
	}
	a = forgotten{asked(t, "pods", admission.Update, `{"metadata":{"name":"x"},"spec":{"priority":1}}`)}
	if _, err := (Priority{}).Edit(t.Context(), a, a.After); err == nil {
		t.Error("a priority")
	}
	if _, err := sameImages(t.Context(), a, a.After); err == nil {
		t.Error("an image")
	}
}

// What is in use is protected once.
func TestStorageObjectsAreProtectedOnce(t *testing.T) {
	a := asked(t, "persistentvolumeclaims", admission.Create, `{"metadata":{"name":"x","finalizers":["example.com/f"]}}`)
	for _, want := range []bool{true, false} {
		changed, err := StorageObjectInUseProtection{}.Edit(t.Context(), a, a.After)
		finalizers := (&unstructured.Unstructured{Object: a.After}).GetFinalizers()
		if err != nil || changed != want || len(finalizers) != 2 || finalizers[0] != "example.com/f" || finalizers[1] != "kubernetes.io/pvc-protection" {
			t.Errorf("changed %t, %q, %v", changed, finalizers, err)
		}
	}
}
