package serviceaccount

import (
	"context"
	"reflect"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/pki"
)

// What clients read of the authority, by Kubernetes' names.
const (
	rootCA      = "kube-root-ca.crt"
	description = "kubernetes.io/description"
	describes   = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. " +
		"No other usage is guaranteed across distributions of Kubernetes clusters."
)

var leases = schema.GroupResource{Group: coordinationv1.GroupName, Resource: "leases"}

// Gathering is what keeps an object in every namespace, and finds out what belongs in it.
type Gathering interface {
	Making
	client.MetadataLister
}

// Authorities is the controller that keeps the ConfigMap by which pods verify the server:
// the authorities of all gateways that share a store, as their leases say.
type Authorities struct {
	Everywhere
	objects Gathering
	own     []byte
	// pem are those that were last told everywhere.
	pem string
}

// NewAuthorities makes the controller; trust is certificates as PEM, this gateway's own.
func NewAuthorities(objects Gathering, trust []byte) *Authorities {
	c := &Authorities{objects: objects, own: trust}
	c.Everywhere = Everywhere{objects: objects, name: "root-ca", gr: configMaps, object: rootCA, wanted: func() *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"annotations": map[string]any{description: describes}}, "data": c.data(),
		}}
	}, mended: c.mend}
	return c
}

// Watches implements [controller.Controller].
func (c *Authorities) Watches() []schema.GroupResource {
	return append(c.Everywhere.Watches(), leases)
}

// Reconcile implements [controller.Controller].
func (c *Authorities) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	if key.GroupResource == leases && key.Namespace != metav1.NamespaceSystem || key.GroupResource != leases && !c.concerns(key) {
		return nil // of ConfigMaps most are somebody else's, and written all the time
	}
	before := c.pem
	if err := c.gather(ctx); err != nil {
		return err
	}
	if c.pem != before {
		all, err := c.objects.ListMetadata(ctx, gvr.Namespaces, "")
		if err != nil {
			c.pem = before
			return err
		}
		for _, ns := range all {
			q.Add(controller.Key{GroupResource: gvr.Namespaces, Name: ns.Name})
		}
	}
	if key.GroupResource == leases {
		return nil
	}
	return c.Everywhere.Reconcile(ctx, q, key)
}

// gather finds out which authorities there are.
func (c *Authorities) gather(ctx context.Context) error {
	all, err := c.objects.ListMetadata(ctx, leases, metav1.NamespaceSystem)
	if err != nil {
		return err
	}
	texts := [][]byte{c.own}
	for _, l := range all {
		if text := l.Annotations[kinds.AuthoritiesKey]; l.Labels[kinds.IdentityLabel] == kinds.IdentityOfServer && text != "" {
			texts = append(texts, []byte(text))
		}
	}
	c.pem = string(pki.Bundle(texts...))
	return nil
}

func (c *Authorities) data() map[string]any { return map[string]any{"ca.crt": c.pem} }

// mend has a ConfigMap say what it should, and reports whether it did not.
func (c *Authorities) mend(there *unstructured.Unstructured) bool {
	about := there.GetAnnotations()
	if reflect.DeepEqual(there.Object["data"], any(c.data())) && about[description] != "" {
		return false
	}
	if about[description] == "" {
		if about == nil {
			about = map[string]string{}
		}
		about[description] = describes
		there.SetAnnotations(about)
	}
	there.Object["data"] = c.data()
	return true
}
