package plugin

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
)

// Each editor looks at what is made of its own kind, and at nothing else.
func TestWhatIsEdited(t *testing.T) {
	type edits struct {
		o           admission.Operation
		gr          schema.GroupResource
		subresource string
	}
	claims, secrets := volumeClaims.kind, schema.GroupResource{Resource: "secrets"}
	for _, c := range []struct {
		e         admission.Editor
		yes, none []edits
	}{
		{PodTopologyLabels{}, []edits{{admission.Create, pods, ""}, {admission.Create, pods, "binding"}},
			[]edits{{admission.Update, pods, ""}, {admission.Update, pods, "binding"}, {admission.Create, pods, "eviction"}, {admission.Create, secrets, ""}, {admission.Create, secrets, "binding"}}},
		{DefaultIngressClass{}, []edits{{admission.Create, ingresses.kind, ""}}, []edits{{admission.Create, claims, ""}, {admission.Update, ingresses.kind, ""}, {admission.Create, ingresses.kind, "status"}}},
		{DefaultStorageClass{}, []edits{{admission.Create, claims, ""}}, []edits{{admission.Create, ingresses.kind, ""}, {admission.Update, claims, ""}, {admission.Create, claims, "status"}}},
		{PodNodeSelector{}, []edits{{admission.Create, pods, ""}}, []edits{{admission.Update, pods, ""}, {admission.Create, pods, "binding"}, {admission.Create, secrets, ""}}},
		{RuntimeClass{}, []edits{{admission.Create, pods, ""}}, []edits{{admission.Update, pods, ""}, {admission.Create, pods, "binding"}, {admission.Create, secrets, ""}}},
		{PodTolerationRestriction{}, []edits{{admission.Create, pods, ""}, {admission.Update, pods, ""}}, []edits{{admission.Delete, pods, ""}, {admission.Update, pods, "status"}, {admission.Update, secrets, ""}}},
	} {
		for _, one := range c.yes {
			if !c.e.Edits(one.o, one.gr, one.subresource) {
				t.Errorf("%T does not look at %v", c.e, one)
			}
		}
		for _, one := range c.none {
			if c.e.Edits(one.o, one.gr, one.subresource) {
				t.Errorf("%T looks at %v", c.e, one)
			}
		}
	}
}

// Where there is nothing to do, nothing is changed.
func TestWhatIsLeftAsItIs(t *testing.T) {
	const tolerated = `{"spec":{"tolerations":[{"key":"example.com/a","operator":"Exists","effect":"NoSchedule"}],"containers":[{"resources":{"requests":{"example.com/a":"1"}}}]}}`
	marked := map[string]map[string]any{"usual": {"metadata": map[string]any{"name": "usual", "annotations": map[string]any{ingresses.marks[0]: "true"}}}}
	for name, c := range map[string]struct {
		e        admission.Editor
		resource string
		body     string
	}{
		"a pod that asks for nothing":             {ExtendedResourceToleration{}, "pods", `{"spec":{"containers":[{}]}}`},
		"one that tolerates what it needs":        {ExtendedResourceToleration{}, "pods", tolerated},
		"one without a spec":                      {PodNodeSelector{}, "pods", `{"metadata":{"name":"x"}}`},
		"one that tolerates nothing":              {PodTolerationRestriction{}, "pods", `{"spec":{}}`},
		"an Ingress that names one by annotation": {DefaultIngressClass{shelf{all: marked}}, "ingresses", `{"metadata":{"annotations":{"kubernetes.io/ingress.class":""}},"spec":{}}`},
		"an Ingress that names one":               {DefaultIngressClass{shelf{all: marked}}, "ingresses", `{"spec":{"ingressClassName":"other"}}`},
	} {
		a := asked(t, c.resource, admission.Create, c.body)
		if changed, err := c.e.Edit(t.Context(), spoken{a, nil}, a.After); changed || err != nil {
			t.Errorf("%s: %t, %v", name, changed, err)
		}
	}
	a := asked(t, "ingresses", admission.Create, `{"spec":{}}`)
	if changed, err := (DefaultIngressClass{shelf{all: marked}}).Edit(t.Context(), a, a.After); !changed || err != nil || a.After["spec"].(map[string]any)["ingressClassName"] != "usual" {
		t.Errorf("an Ingress that names none: %t, %v, %v", changed, err, a.After)
	}
}

// spoken is a request in a namespace with annotations.
type spoken struct {
	*admissiontest.Attributes
	annotations map[string]string
}

func (s spoken) GetNamespaceObject(context.Context, string) (*corev1.Namespace, error) {
	out := &corev1.Namespace{}
	out.Annotations = s.annotations
	return out, nil
}

// What validates looks at writes of its own kind alone, and says what it cannot read.
func TestWhatIsValidated(t *testing.T) {
	gone := errors.New("it is gone")
	many := `[` + strings.TrimSuffix(strings.Repeat(`{"key":"k"},`, mostTolerations+1), ",") + `]`
	for name, c := range map[string]struct {
		v           admission.Validator
		o           admission.Operation
		resource    string
		subresource string
		body        string
		annotations map[string]string
		want        string
	}{
		"tolerations that are none":          {PodTolerationRestriction{}, admission.Create, "pods", "", `{"spec":{"tolerations":7}}`, nil, "cannot restore slice from int64"},
		"those of another kind":              {PodTolerationRestriction{}, admission.Create, "secrets", "", `{"spec":{"tolerations":7}}`, nil, ""},
		"those of a status":                  {PodTolerationRestriction{}, admission.Update, "pods", "status", `{"spec":{"tolerations":7}}`, nil, ""},
		"what is allowed and cannot be read": {PodTolerationRestriction{}, admission.Create, "pods", "", `{"spec":{"tolerations":[{"key":"k"}]}}`, map[string]string{allowedAnnotation: "{"}, "unexpected end of JSON input"},
		"null, by which everything is":       {PodTolerationRestriction{allowed: []corev1.Toleration{{Key: "a"}}}, admission.Create, "pods", "", `{"spec":{"tolerations":[{"key":"k"}]}}`, map[string]string{allowedAnnotation: "null"}, ""},
		"more than are compared":             {PodTolerationRestriction{allowed: []corev1.Toleration{{Key: "k"}}}, admission.Update, "pods", "", `{"metadata":{"name":"x"},"spec":{"tolerations":` + many + `}}`, nil, `pods "x" is forbidden: 2001 tolerations are compared, more than 2000`},
		"a pod without an account":           {ServiceAccount{shelf{}}, admission.Create, "pods", "", `{"metadata":{"name":"x"},"spec":{}}`, nil, `pods "x" is forbidden: no service account specified for pod n/x`},
		"a change of one":                    {ServiceAccount{shelf{get: gone}}, admission.Update, "pods", "", `{"metadata":{"name":"x"},"spec":{}}`, nil, ""},
		"a mirror":                           {ServiceAccount{shelf{get: gone}}, admission.Create, "pods", "", `{"metadata":{"name":"x","annotations":{"kubernetes.io/config.mirror":"y"}},"spec":{}}`, nil, ""},
		"a mirror with an account":           {ServiceAccount{shelf{}}, admission.Create, "pods", "", `{"metadata":{"name":"x","annotations":{"kubernetes.io/config.mirror":"y"}},"spec":{"serviceAccountName":"a"}}`, nil, "a mirror pod may not reference service accounts"},
		"an account while the store is away": {ServiceAccount{shelf{stale: gone}}, admission.Create, "pods", "", `{"metadata":{"name":"x"},"spec":{"serviceAccountName":"a"}}`, nil, "it is gone"},
		"external addresses of another kind": {DenyServiceExternalIPs{}, admission.Create, "pods", "", `{"spec":{"externalIPs":["192.0.2.1"]}}`, nil, ""},
		"those of a service's status":        {DenyServiceExternalIPs{}, admission.Update, "services", "status", `{"spec":{"externalIPs":["192.0.2.1"]}}`, nil, ""},
		"those of a service that is deleted": {DenyServiceExternalIPs{}, admission.Delete, "services", "", `{"spec":{"externalIPs":["192.0.2.1"]}}`, nil, ""},
		"those of a new one":                 {DenyServiceExternalIPs{}, admission.Create, "services", "", `{"spec":{"externalIPs":["192.0.2.1"]}}`, nil, "Use of external IPs is denied by admission control"},
	} {
		a := asked(t, c.resource, c.o, c.body)
		a.Subresource = c.subresource
		err := c.v.Validate(t.Context(), spoken{a, c.annotations})
		if got := errorText(err); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// What cannot be read or written as tolerations is told, and nothing is changed.
func TestTolerationsThatAreNone(t *testing.T) {
	for body, want := range map[string]string{
		`{"spec":{"tolerations":7}}`:                                                  "cannot restore slice from int64",
		`{"spec":{"tolerations":[{"key":7}]}}`:                                        "cannot convert int64 to string",
		`{"spec":{"containers":[{"resources":{"requests":{"cpu":"1e2000000000"}}}]}}`: "exponent beyond 1000",
	} {
		a := asked(t, "pods", admission.Create, body)
		changed, err := (PodTolerationRestriction{}).Edit(t.Context(), spoken{a, nil}, a.After)
		if changed || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %t, %v", body, changed, err)
		}
	}
}
