package e2e

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/discovery"
	memcache "k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestClientGo_CLI01 drives the parts of client-go that operators are made of, with a
// custom resource where they take one: discovery and its RESTMapper, the dynamic client
// and its informers, the metadata client, apply configurations, events, and leader
// election.
func TestClientGo_CLI01(t *testing.T) {
	s := harness.Shared(t)
	c := newCronTabs(t, s, nil)
	cfg, ctx := s.Config(), t.Context()
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	tabs := schema.GroupVersionResource{Group: c.group, Version: "v1", Resource: "crontabs"}

	c.run("CLI-01 discovery and the RESTMapper", func(t *testing.T, c *cronTabs) {
		d, err := discovery.NewDiscoveryClientForConfig(cfg)
		if err != nil {
			t.Fatal(err)
		}
		mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(memcache.NewMemCacheClient(d)), d, nil)
		for _, of := range []struct {
			kind schema.GroupKind
			want schema.GroupVersionResource
		}{
			{schema.GroupKind{Group: c.group, Kind: "CronTab"}, tabs},
			{schema.GroupKind{Kind: "ConfigMap"}, schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}},
			{schema.GroupKind{Group: "wasmgate.dev", Kind: "WasmModule"}, schema.GroupVersionResource{Group: "wasmgate.dev", Version: "v1", Resource: "wasmmodules"}},
		} {
			if m, err := mapper.RESTMapping(of.kind); err != nil || m.Resource != of.want {
				t.Errorf("%s: %v, %v", of.kind, m, err)
			}
		}
		if r, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: "wm"}); err != nil || r.Resource != "wasmmodules" {
			t.Errorf("by the short name: %v, %v", r, err)
		}
	})
	usesDynamicClients(ctx, c, cfg, client, objects, tabs)
	c.run("CLI-01 events", func(t *testing.T, c *cronTabs) {
		broadcaster := record.NewBroadcaster()
		defer broadcaster.Shutdown()
		broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events(c.ns)})
		recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "test"})
		about := &corev1.ObjectReference{Kind: "CronTab", Namespace: c.ns, Name: "some", UID: "1"}
		for range 2 { // the second counts the first up
			recorder.Event(about, corev1.EventTypeNormal, "Seen", "it was seen")
		}
		c.api.Eventually("/api/v1/namespaces/"+c.ns+"/events?fieldSelector=reason=Seen", func(r *harness.Reply) bool {
			items := r.Object().Items()
			return len(items) == 1 && items[0].Str("count") == "2" && items[0].Str("source.component") == "test"
		})
	})
	c.run("CLI-01 leader election", func(t *testing.T, c *cronTabs) { electsOneAfterTheOther(t, client, c.ns) })
}

// usesDynamicClients shows clients that know no types, and apply configurations.
func usesDynamicClients(ctx context.Context, c *cronTabs, cfg *rest.Config, client *kubernetes.Clientset, objects *dynamic.DynamicClient, tabs schema.GroupVersionResource) {
	c.run("CLI-01 the dynamic client, its informers and metadata", func(t *testing.T, c *cronTabs) {
		factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(objects, 0, c.ns, nil)
		lister := factory.ForResource(tabs).Lister()
		factory.Start(ctx.Done())
		factory.WaitForCacheSync(ctx.Done())
		made, err := objects.Resource(tabs).Namespace(c.ns).Create(ctx, &unstructured.Unstructured{Object: c.object("v1", "dynamic", `{"host":"h"}`)}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		harness.Eventually(t, "in the informer's cache", func() bool {
			got, err := lister.ByNamespace(c.ns).Get("dynamic")
			return err == nil && got.(*unstructured.Unstructured).GetUID() == made.GetUID()
		})
		meta, err := metadata.NewForConfig(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := meta.Resource(tabs).Namespace(c.ns).Get(ctx, "dynamic", metav1.GetOptions{}); err != nil || got.UID != made.GetUID() {
			t.Errorf("its metadata: %v, %v", got, err)
		}
		if err := meta.Resource(tabs).Namespace(c.ns).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			t.Error(err)
		}
		harness.Eventually(t, "out of it", func() bool {
			_, err := lister.ByNamespace(c.ns).Get("dynamic")
			return err != nil
		})
	})
	c.run("CLI-01 apply configurations", func(t *testing.T, c *cronTabs) {
		maps := client.CoreV1().ConfigMaps(c.ns)
		for _, value := range []string{"1", "2"} {
			got, err := maps.Apply(ctx, applycorev1.ConfigMap("applied", c.ns).WithData(map[string]string{"a": value}), metav1.ApplyOptions{FieldManager: "test"})
			if err != nil || got.Data["a"] != value {
				t.Fatalf("%v, %v", got, err)
			}
		}
		now, err := maps.Get(ctx, "applied", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if own, err := applycorev1.ExtractConfigMap(now, "test"); err != nil || own.Data["a"] != "2" {
			t.Errorf("extracted %v, %v", own, err)
		}
	})
}

// electsOneAfterTheOther has two candidates for one lease: the second leads when the
// first has released it.
func electsOneAfterTheOther(t *testing.T, client kubernetes.Interface, ns string) {
	t.Helper()
	led := make(chan string, 2)
	run := func(ctx context.Context, name string) (ended chan struct{}) {
		ended = make(chan struct{})
		lock := &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Namespace: ns, Name: "lock"}, Client: client.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: name}}
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: lock, ReleaseOnCancel: true, LeaseDuration: 60 * time.Second, RenewDeadline: 40 * time.Second, RetryPeriod: 100 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { led <- name }, OnStoppedLeading: func() {}},
		})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			defer close(ended)
			elector.Run(ctx)
		}()
		return ended
	}
	next := func(want string) {
		t.Helper()
		select {
		case got := <-led:
			if got != want {
				t.Errorf("%s leads, not %s", got, want)
			}
		case <-time.After(50 * time.Second):
			t.Fatalf("%s does not lead", want)
		}
	}
	first, release := context.WithCancel(t.Context())
	ended := run(first, "first")
	next("first")
	second, stop := context.WithCancel(t.Context())
	last := run(second, "second")
	release()
	<-ended
	next("second")
	stop()
	<-last
}
