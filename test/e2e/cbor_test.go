package e2e

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestCBOR has client-go send and take CBOR.
func TestCBOR(t *testing.T) {
	if harness.Shared(t).External {
		t.Skip("the gate is a flag of the server")
	}
	g := harness.Start(t, harness.Options{Args: []string{"--feature-gates=CBORServingAndStorage=true"}})
	c := newCronTabs(t, &g.Server, nil)
	c.run("MT-11 MT-12 MT-13 a client and an informer in CBOR", func(t *testing.T, c *cronTabs) {
		clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.ClientsAllowCBOR, true)
		clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.ClientsPreferCBOR, true)
		seen := &replies{seen: map[string]map[string]bool{}}
		config := c.s.Config()
		config.Wrap(seen.wrap)
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		gvr := schema.GroupVersionResource{Group: c.group, Version: "v1", Resource: "crontabs"}
		tabs := client.Resource(gvr).Namespace(c.ns)
		object := &unstructured.Unstructured{Object: c.object("v1", "one", `{"host":"h","replicas":2}`)}
		if _, err := tabs.Create(ctx, object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		object.SetName("two")
		if _, err := tabs.Apply(ctx, "two", object, metav1.ApplyOptions{FieldManager: "m"}); err != nil {
			t.Fatal(err)
		}
		factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, c.ns, nil)
		informer := factory.ForResource(gvr)
		informer.Informer()
		factory.Start(ctx.Done())
		defer func() { cancel(); factory.Shutdown() }()
		factory.WaitForCacheSync(ctx.Done())
		c.touch("one", "3")
		harness.Eventually(t, "the informer has seen the change", func() bool {
			o, err := informer.Lister().ByNamespace(c.ns).Get("one")
			return err == nil && o.(*unstructured.Unstructured).GetGeneration() == 2
		})
		list, err := tabs.List(ctx, metav1.ListOptions{})
		if err != nil || len(list.Items) != 2 {
			t.Fatal(list, err)
		}
		if n, _, _ := unstructured.NestedInt64(list.Items[1].Object, "spec", "replicas"); n != 2 {
			t.Errorf("%v", list.Items[1].Object)
		}
		for what, media := range map[string]string{"GET": "application/cbor", "POST": "application/cbor", "PATCH": "application/cbor", "WATCHLIST": "application/cbor-seq"} {
			if got := seen.seen[what]; len(got) != 1 || !got[media] {
				t.Errorf("%s was answered with %v", what, got)
			}
		}
	})
}
