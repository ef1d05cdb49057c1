package serviceaccount

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// queue has the keys that were added to it.
type queue struct{ keys []controller.Key }

func (q *queue) Add(k controller.Key)                     { q.keys = append(q.keys, k) }
func (*queue) AddAfter(controller.Key, time.Duration)     {}
func (*queue) Follow(controller.Key, ...controller.Scope) {}

// Whatever call fails while authorities are told, it is told, and another run has all
// namespaces looked at.
func TestFailuresToTellAuthoritiesAreTold(t *testing.T) {
	own, other := authority(t), authority(t)
	lease := controller.Key{GroupResource: leases, Namespace: "kube-system", Name: "other"}
	for _, key := range []controller.Key{{GroupResource: gvr.Namespaces, Name: "one"}, lease} {
		var c *Authorities
		var of *controllertest.Failing
		var q *queue
		controllertest.EachCallFails(t, 2, func() controllertest.Engine {
			o := controllertest.New()
			for _, name := range []string{"one", "kube-system"} {
				controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree(name))
			}
			controllertest.MustCreate(t, o, leases, map[string]any{"metadata": map[string]any{
				"name": "other", "namespace": "kube-system", "labels": map[string]any{kinds.IdentityLabel: kinds.IdentityOfServer}, "annotations": map[string]any{kinds.AuthoritiesKey: string(other)},
			}})
			return o
		}, func(f *controllertest.Failing) error {
			if of != f {
				of, q, c = f, &queue{}, NewAuthorities(f, own)
			}
			return c.Reconcile(t.Context(), q, key)
		}, func(f *controllertest.Failing) error {
			if len(q.keys) != 2 || !slices.Contains(q.keys, controller.Key{GroupResource: gvr.Namespaces, Name: "one"}) || !strings.Contains(c.pem, strings.TrimSpace(string(other))) {
				return fmt.Errorf("looked at are %v", q.keys)
			}
			return nil
		})
	}
	c, q := NewAuthorities(&controllertest.Failing{Engine: controllertest.New(), Number: 1}, own), &queue{}
	for _, key := range []controller.Key{{GroupResource: leases, Namespace: "one", Name: "other"}, {GroupResource: configMaps, Namespace: "one", Name: "other"}} {
		if err := c.Reconcile(t.Context(), q, key); err != nil {
			t.Errorf("%v of others is looked at: %v", key, err)
		}
	}
}

// Whatever call fails while it is noted since when uses are, that is told.
func TestFailuresOfTrackingAreTold(t *testing.T) {
	controllertest.EachCallFails(t, 2, func() controllertest.Engine {
		o := controllertest.New()
		controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree(tracked.Namespace))
		controllertest.MustCreate(t, o, configMaps, map[string]any{"metadata": map[string]any{"name": tracked.Name, "namespace": tracked.Namespace}})
		return o
	}, func(f *controllertest.Failing) error {
		return NewTracking(f).Reconcile(t.Context(), &queue{}, tracked)
	}, func(f *controllertest.Failing) error {
		since, _, _ := unstructured.NestedString(controllertest.MustGet(t, f.Engine, configMaps, tracked.Namespace, tracked.Name).Object, "data", trackingSince)
		if _, err := time.Parse(time.DateOnly, since); err != nil {
			return errors.New("it does not say since when")
		}
		return nil
	})
}

// unreadable is a store of which some kind cannot be read.
type unreadable struct {
	stored
	resource string
}

func (u unreadable) Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error) {
	if gr.Resource == u.resource {
		return nil, controllertest.ErrAway
	}
	return u.stored.Get(ctx, gr, namespace, name)
}

// What a token is bound to has to be known, all of it.
func TestWhatTokensAreBoundToHasToBeKnown(t *testing.T) {
	for _, resource := range []string{"serviceaccounts", "secrets", "pods"} {
		tokens, _ := newTokens(t, ecKey(t))
		token := signed(t, tokens.Key, nil)
		keep(tokens, token, "")
		if resource == "pods" {
			bound, err := ask(tokens, `{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"mine","uid":"u2"}}}`)
			if err != nil {
				t.Fatal(err)
			}
			token = bound.Status.Token
		}
		request := authn.Request{BearerToken: token}
		if _, ok, err := tokens.Authenticate(t.Context(), request); !ok || err != nil {
			t.Fatalf("%s: %v, %v", resource, ok, err)
		}
		tokens.Objects = unreadable{tokens.Objects.(stored), resource}
		if _, ok, err := tokens.Authenticate(t.Context(), request); ok || err == nil || !strings.Contains(err.Error(), controllertest.ErrAway.Error()) {
			t.Errorf("%s: %v, %v", resource, ok, err)
		}
	}
}

// A token for a pod has to name the pod's node, whether there is an object of it or not.
func TestTheNodeOfAPodHasToBeKnown(t *testing.T) {
	tokens, _ := newTokens(t, ecKey(t))
	objects := tokens.Objects.(stored)
	objects["pods mine"] = "{metadata: {uid: u2}, spec: {serviceAccountName: robot, nodeName: \"n\"}}"
	tokens.Objects = unreadable{objects, "nodes"}
	if _, err := ask(tokens, `{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"mine"}}}`); !errors.Is(err, controllertest.ErrAway) {
		t.Error(err)
	}
}
