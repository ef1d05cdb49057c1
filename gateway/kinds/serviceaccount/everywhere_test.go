package serviceaccount

import (
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/pki"
)

// there tells whether an object is in the cache, and its text at a field.
func there(t *testing.T, e *realengine.Engine, c *Everywhere, namespace string, field ...string) (text string, yes bool) {
	obj, err := e.Get(t.Context(), c.gr, namespace, c.object)
	if err != nil {
		return "", false
	}
	text, _, _ = unstructured.NestedString(obj.Object, field...)
	return text, true
}

// authority is the certificate of a new authority, as PEM.
func authority(t *testing.T) []byte {
	t.Helper()
	path, _, err := pki.ClientAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestEveryNamespaceHasItsAccountAndItsAuthority_RBAC(t *testing.T) {
	e := realengine.Start(t)
	own := authority(t)
	defaults, authorities, pem := NewDefaults(e), NewAuthorities(e, own), string(own)
	controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree("before"))
	controllertest.Start(t, e, defaults, authorities)
	controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree("after"))
	has := func(c *Everywhere, namespace, want string, field ...string) {
		t.Helper()
		controllertest.Eventually(t, e, c.object+" in "+namespace, func() bool {
			got, yes := there(t, e, c, namespace, field...)
			return yes && got == want
		})
	}
	for _, namespace := range []string{"before", "after"} {
		has(defaults, namespace, "default", "metadata", "name")
		has(&authorities.Everywhere, namespace, pem, "data", "ca.crt")
		has(&authorities.Everywhere, namespace, describes, "metadata", "annotations", description)
	}
	for _, c := range []*Everywhere{defaults, &authorities.Everywhere} { // what goes comes back
		obj, err := e.Get(t.Context(), c.gr, "after", c.object)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Delete(t.Context(), c.gr, "after", c.object, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		controllertest.Eventually(t, e, c.object+" again", func() bool {
			now, err := e.Get(t.Context(), c.gr, "after", c.object)
			return err == nil && now.GetUID() != obj.GetUID()
		})
	}
	// An authority that is changed is mended; what else there is of an account stays.
	controllertest.MustChange(t, e, configMaps, "", "before", rootCA, func(o *unstructured.Unstructured) { o.Object["data"] = map[string]any{"other": "x"} })
	has(&authorities.Everywhere, "before", pem, "data", "ca.crt")
	has(&authorities.Everywhere, "before", "", "data", "other")
	controllertest.MustChange(t, e, configMaps, "", "before", rootCA, func(o *unstructured.Unstructured) { o.SetAnnotations(nil) })
	has(&authorities.Everywhere, "before", describes, "metadata", "annotations", description)
	controllertest.MustChange(t, e, accounts, "", "before", "default", func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"a": "b"}) })
	has(defaults, "before", "b", "metadata", "labels", "a")
}

// In a namespace that goes nothing is made, and nobody complains.
func TestNamespacesThatGoGetNothing_RBAC(t *testing.T) {
	e := realengine.Start(t)
	ns := controllertest.NamespaceTree("going")
	ns["metadata"].(map[string]any)["finalizers"] = []any{"example.com/held"}
	controllertest.MustCreate(t, e, gvr.Namespaces, ns)
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.Delete(t.Context(), gvr.Namespaces, "", "going", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*Everywhere{NewDefaults(e), &NewAuthorities(e, authority(t)).Everywhere} {
		for _, namespace := range []string{"going", "not-there"} {
			if err := c.Reconcile(t.Context(), nil, controller.Key{GroupResource: gvr.Namespaces, Name: namespace}); err != nil {
				t.Errorf("%s in %s: %v", c.object, namespace, err)
			}
			if err := c.make(t.Context(), namespace); err != nil && namespace == "going" {
				t.Errorf("%s is made in %s: %v", c.object, namespace, err)
			}
			if _, yes := there(t, e, c, namespace); yes {
				t.Errorf("%s is in %s", c.object, namespace)
			}
		}
	}
}

// What other gateways say in their leases is told everywhere, until they are gone.
func TestAuthoritiesOfAllGateways(t *testing.T) {
	e, own, other := realengine.Start(t), authority(t), authority(t)
	c := NewAuthorities(e, own)
	for _, ns := range []string{"kube-system", "one"} {
		controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree(ns))
	}
	controllertest.Start(t, e, c)
	has := func(want string) {
		t.Helper()
		for _, ns := range []string{"kube-system", "one"} {
			controllertest.Eventually(t, e, "authorities in "+ns, func() bool {
				got, yes := there(t, e, &c.Everywhere, ns, "data", "ca.crt")
				return yes && got == want
			})
		}
	}
	has(string(own))
	lease := func(namespace, name, label string, text []byte) {
		controllertest.MustCreate(t, e, leases, map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": map[string]any{
			"name": name, "namespace": namespace, "labels": map[string]any{kinds.IdentityLabel: label}, "annotations": map[string]any{kinds.AuthoritiesKey: string(text)},
		}})
	}
	lease("one", "elsewhere", kinds.IdentityOfServer, authority(t)) // which a tenant may write
	lease("kube-system", "another", "something", authority(t))
	lease("kube-system", "broken", kinds.IdentityOfServer, []byte("-----BEGIN CERTIFICATE-----"))
	lease("kube-system", "other", kinds.IdentityOfServer, other)
	has(string(pki.Bundle(other, own)))
	if err := e.Delete(t.Context(), leases, "kube-system", "other", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	has(string(own))
}
