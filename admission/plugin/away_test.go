package plugin

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
)

// shelf has objects by name, or fails in one of its ways.
type shelf struct {
	all              map[string]map[string]any
	stale, get, list error
}

func (s shelf) Fresh(context.Context) error { return s.stale }

func (s shelf) Get(_ context.Context, gr schema.GroupResource, _, name string) (*unstructured.Unstructured, error) {
	if s.get != nil {
		return nil, s.get
	}
	if s.all[name] == nil {
		return nil, apierrors.NewNotFound(gr, name)
	}
	return &unstructured.Unstructured{Object: s.all[name]}, nil
}

func (s shelf) List(context.Context, schema.GroupResource, string) (out []*unstructured.Unstructured, _ error) {
	for _, one := range s.all {
		out = append(out, &unstructured.Unstructured{Object: one})
	}
	return out, s.list
}

func (s shelf) GetMetadata(ctx context.Context, gr schema.GroupResource, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	found, err := s.Get(ctx, gr, namespace, name)
	if err != nil {
		return nil, err
	}
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: found.GetLabels()}}, nil
}

var errAway = apierrors.NewInternalError(errors.New("the store is away"))

// What cannot be known, as the store is away, nobody assumes: the write fails.
func TestClassesThatCannotBeRead(t *testing.T) {
	claim := func() *admissiontest.Attributes {
		return asked(t, "persistentvolumeclaims", admission.Create, `{"metadata":{"name":"x"},"spec":{}}`)
	}
	pod := func(spec string) *admissiontest.Attributes {
		return asked(t, "pods", admission.Create, `{"metadata":{"name":"x"},"spec":{`+spec+`}}`)
	}
	unmarked := map[string]map[string]any{"a": {"metadata": map[string]any{"name": "a"}}}
	notServed := apierrors.NewNotFound(volumeClaims.classes, "")
	for name, c := range map[string]struct {
		e     admission.Editor
		a     *admissiontest.Attributes
		fails bool
	}{
		"a class that was marked a moment ago":   {DefaultStorageClass{shelf{stale: errAway}}, claim(), true},
		"classes":                                {DefaultStorageClass{shelf{list: errAway}}, claim(), true},
		"classes of which none is the usual one": {DefaultStorageClass{shelf{all: unmarked}}, claim(), false},
		"the account of a pod without a spec":    {ServiceAccount{shelf{}}, asked(t, "pods", admission.Create, `{"metadata":{"name":"x"}}`), false},
		"classes that are not served":            {DefaultStorageClass{shelf{list: notServed}}, claim(), false},
		"a class of a pod":                       {RuntimeClass{shelf{get: errAway, stale: errAway}}, pod(`"runtimeClassName":"a"`), true},
		"a priority":                             {Priority{shelf{get: errAway, stale: errAway, list: errAway}}, pod(`"priorityClassName":"a"`), true},
		"the node of a pod":                      {PodTopologyLabels{shelf{get: errAway}}, pod(`"nodeName":"a"`), true},
		"a node that is not there":               {PodTopologyLabels{shelf{}}, pod(`"nodeName":"a"`), false},
		"an overhead that is none":               {RuntimeClass{shelf{}}, pod(`"overhead":7`), true},
		"tolerations that are none":              {ExtendedResourceToleration{}, pod(`"tolerations":7,"containers":[{"resources":{"requests":{"example.com/gpu":"1"}}}]`), true},
		"a pod without a spec":                   {Priority{shelf{}}, asked(t, "pods", admission.Create, `{"metadata":{"name":"x"}}`), false},
	} {
		changed, err := c.e.Edit(t.Context(), c.a, c.a.After)
		if (err != nil) != c.fails || changed {
			t.Errorf("%s: changed %t, %v", name, changed, err)
		}
	}
	for name, s := range map[string]shelf{"a default that was marked a moment ago": {stale: errAway}, "defaults": {list: errAway}} {
		a := asked(t, "priorityclasses", admission.Update, `{"metadata":{"name":"x"},"globalDefault":true}`)
		a.Resource = priorityClasses.WithVersion("v1")
		if err := (Priority{s}).Validate(t.Context(), a); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// late is a shelf that has the account "default" when it was asked so many times.
type late struct {
	shelf
	after *int
}

func (l late) Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error) {
	if *l.after--; *l.after > 0 {
		return nil, apierrors.NewNotFound(gr, name)
	}
	return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}}}, nil
}

// The account of a new namespace comes a moment after it, and is waited for; one that a pod
// names is not, nor is any by who does not wait any longer.
func TestAccountsAreWaitedFor(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		ctx   context.Context
		name  string
		after int
		fails bool
	}{{t.Context(), "default", 1, false}, {t.Context(), "default", 3, false}, {t.Context(), "other", 2, false}, {t.Context(), "other", 3, true}, {ended, "default", 3, true}} {
		a := asked(t, "pods", admission.Create, `{"metadata":{"name":"x"},"spec":{"serviceAccountName":"`+c.name+`","automountServiceAccountToken":false}}`)
		after := c.after
		if _, err := (ServiceAccount{late{after: &after}}).Edit(c.ctx, a, a.After); (err != nil) != c.fails {
			t.Errorf("%s, the %d. time: %v", c.name, c.after, err)
		}
	}
}

// A new node is not ready, once, until somebody says that it is.
func TestNewNodesAreNotReady(t *testing.T) {
	const taint = `map[effect:NoSchedule key:node.kubernetes.io/not-ready]`
	for spec, want := range map[string]string{
		``:                                     "[" + taint + "]",
		`,"spec":{}`:                           "[" + taint + "]",
		`,"spec":{"taints":[{"key":"other"}]}`: "[map[key:other] " + taint + "]",
		`,"spec":{"taints":[{"key":"node.kubernetes.io/not-ready","effect":"NoExecute"}]}`:  "[map[effect:NoExecute key:node.kubernetes.io/not-ready] " + taint + "]",
		`,"spec":{"taints":[{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}]}`: "",
	} {
		a := asked(t, "nodes", admission.Create, `{"metadata":{"name":"x"}`+spec+`}`)
		changed, err := TaintNodesByCondition{}.Edit(t.Context(), a, a.After)
		got := fmt.Sprint(a.After["spec"].(map[string]any)["taints"])
		if err != nil || changed != (want != "") || changed && got != want {
			t.Errorf("%s: %t, %s, %v", spec, changed, got, err)
		}
	}
	for what, c := range map[string]struct {
		o           admission.Operation
		gr          schema.GroupResource
		subresource string
		want        bool
	}{"new ones": {admission.Create, nodes, "", true}, "old ones": {admission.Update, nodes, "", false}, "their status": {admission.Create, nodes, "status", false}, "pods": {admission.Create, pods, "", false}} {
		if got := (TaintNodesByCondition{}).Edits(c.o, c.gr, c.subresource); got != c.want {
			t.Errorf("%s: %t", what, got)
		}
	}
}

// A pod gets the labels of its node that say where that is, as far as the node has them.
func TestPodsAreWhereTheirNodeIs(t *testing.T) {
	const zone, region = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
	labelled := func(labels map[string]any) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": "n", "labels": labels}}
	}
	p := PodTopologyLabels{shelf{all: map[string]map[string]any{
		"both": labelled(map[string]any{zone: "z", region: "r", "other": "x"}), "region": labelled(map[string]any{region: "r"}), "none": labelled(map[string]any{"other": "x"}),
	}}}
	for _, c := range []struct {
		subresource, body string
		want              map[string]any
	}{
		{"", `{"metadata":{"name":"x"},"spec":{"nodeName":"both"}}`, map[string]any{zone: "z", region: "r"}},
		{"", `{"metadata":{"name":"x","labels":{"a":"b"}},"spec":{"nodeName":"region"}}`, map[string]any{"a": "b", region: "r"}},
		{"", `{"metadata":{"name":"x"},"spec":{"nodeName":"none"}}`, nil},
		{"", `{"metadata":{"name":"x"},"spec":{}}`, nil},
		{"", `{"metadata":{"name":"x"},"target":{"kind":"Node","name":"both"}}`, nil},
		{"binding", `{"target":{"kind":"Node","name":"both"}}`, map[string]any{zone: "z", region: "r"}},
		{"binding", `{"target":{"kind":"Odd","name":"both"}}`, nil},
	} {
		a := asked(t, "pods", admission.Create, c.body)
		a.Subresource = c.subresource
		changed, err := p.Edit(t.Context(), a, a.After)
		metadata, _ := a.After["metadata"].(map[string]any)
		got, _ := metadata["labels"].(map[string]any)
		if err != nil || changed != (c.want != nil) || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %t, %v, %v", c.body, changed, got, err)
		}
	}
}

// What a node shows of its own files may refer to nothing of the cluster, however deep.
func TestMirrorsReferToNothing(t *testing.T) {
	const accounts, secrets, token = "a mirror pod may not reference service accounts", "a mirror pod may not reference secrets", "a mirror pod may not use ServiceAccountToken volume projections"
	for spec, want := range map[string]string{
		`{"containers":[{"env":[{"name":"a","value":"secretKeyRef"}]}],"volumes":[{"hostPath":{"path":"/secret"}}]}`: "",
		`{"serviceAccountName":"a"}`:                                               accounts,
		`{"imagePullSecrets":[{"name":"a"}]}`:                                      secrets,
		`{"volumes":[{"name":"a"},{"secret":{}}]}`:                                 secrets,
		`{"volumes":[{"csi":{"nodePublishSecretRef":{}}}]}`:                        secrets,
		`{"containers":[{},{"envFrom":[{"secretRef":{}}]}]}`:                       secrets,
		`{"initContainers":[{"envFrom":[{"secretRef":{}}]}]}`:                      secrets,
		`{"ephemeralContainers":[{"env":[{"valueFrom":{"secretKeyRef":{}}}]}]}`:    secrets,
		`{"volumes":[{"projected":{"sources":[{"serviceAccountToken":{}}]}}]}`:     token,
		`{"volumes":[{"projected":{"sources":[{"serviceAccountToken":"none"}]}}]}`: "",
	} {
		a := asked(t, "pods", admission.Create, `{"metadata":{"name":"x","annotations":{"kubernetes.io/config.mirror":"y"}},"spec":`+spec+`}`)
		changed, err := ServiceAccount{}.Edit(t.Context(), a, a.After)
		if changed || (err == nil) != (want == "") || err != nil && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %t, %v", spec, changed, err)
		}
	}
}
