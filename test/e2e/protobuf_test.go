package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/wasmgate/wasmgate/test/harness"
)

// replies notes the content types of replies with a body, by what was asked.
type replies struct {
	mu   sync.Mutex
	seen map[string]map[string]bool
}

func (r *replies) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(q *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(q)
		if err != nil {
			return resp, err
		}
		what := q.Method
		if v := q.URL.Query(); v.Get("watch") != "" {
			what = "WATCH"
			if v.Get("sendInitialEvents") == "true" {
				what = "WATCHLIST"
			}
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.seen[what] == nil {
			r.seen[what] = map[string]bool{}
		}
		r.seen[what][resp.Header.Get("Content-Type")] = true
		return resp, err
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// want checks that what was asked got protobuf and nothing else.
func (r *replies) want(t *testing.T, what ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range what {
		if len(r.seen[w]) == 0 {
			t.Errorf("no %s at all, only %v", w, r.seen)
		}
		for media := range r.seen[w] {
			if !strings.HasPrefix(media, protobuf) {
				t.Errorf("%s was answered with %s", w, media)
			}
		}
	}
}

// inProtobuf is a configuration that sends and takes protobuf only.
func inProtobuf(s *harness.Server) (*rest.Config, *replies) {
	c, r := s.Config(), &replies{seen: map[string]map[string]bool{}}
	c.ContentType, c.AcceptContentTypes = protobuf, protobuf
	c.Wrap(r.wrap)
	return c, r
}

func typedClient(t *testing.T, c *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// alike checks that two objects print as the same JSON.
func alike(t *testing.T, what string, a, b any) {
	t.Helper()
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	if string(x) != string(y) {
		t.Errorf("%s in protobuf\n%s\nin JSON\n%s", what, x, y)
	}
}

func TestTypedClientInProtobuf(t *testing.T) {
	s := harness.Shared(t)
	config, seen := inProtobuf(s)
	ns := namespace(t, s.API(t))
	maps, plain := typedClient(t, config).CoreV1().ConfigMaps(ns), typedClient(t, s.Config()).CoreV1().ConfigMaps(ns)
	t.Run("MT-06 every verb of a typed client", func(t *testing.T) {
		ctx := t.Context()
		for i := range 5 {
			if _, err := maps.Create(ctx, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("m", i), Labels: map[string]string{"odd": fmt.Sprint(i % 2)}, Annotations: map[string]string{"a": ""}},
				Data:       map[string]string{"k": strings.Repeat("x", i)}, BinaryData: map[string][]byte{"b": {0, 255}},
			}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := maps.Get(ctx, "m3", metav1.GetOptions{})
		want, err2 := plain.Get(ctx, "m3", metav1.GetOptions{})
		if err = errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		want.TypeMeta = got.TypeMeta
		alike(t, "an object", got, want)
		got.Data["k"] = "y"
		if got, err = maps.Update(ctx, got, metav1.UpdateOptions{}); err != nil || got.Data["k"] != "y" {
			t.Errorf("update: %v %v", got, err)
		}
		if got, err = maps.Patch(ctx, "m3", types.StrategicMergePatchType, []byte(`{"data":{"k":"z"}}`), metav1.PatchOptions{}); err != nil || got.Data["k"] != "z" {
			t.Errorf("patch: %v %v", got, err)
		}
		for _, o := range []metav1.ListOptions{{}, {Limit: 2}, {LabelSelector: "odd=1"}, {FieldSelector: "metadata.name=m2"}} {
			list, err := maps.List(ctx, o)
			want, err2 := plain.List(ctx, o)
			if err = errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			if want.TypeMeta, want.ResourceVersion = list.TypeMeta, list.ResourceVersion; o.Limit > 0 {
				want.Continue = list.Continue
			}
			alike(t, fmt.Sprintf("a list of %+v", o), list, want)
		}
		if _, err := maps.Get(ctx, "none", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("a map that is not there: %v", err)
		}
		if _, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m3"}}, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
			t.Errorf("a map that is there already: %v", err)
		}
		if err := maps.Delete(ctx, "m0", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		if err := maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "odd=1"}); err != nil {
			t.Error(err)
		}
		list, err := maps.List(ctx, metav1.ListOptions{})
		if err != nil || len(list.Items) == 0 {
			t.Fatal(list, err)
		}
		for _, m := range list.Items {
			if m.Labels["odd"] == "1" || m.Name == "m0" {
				t.Errorf("%s is left", m.Name)
			}
		}
		seen.want(t, "GET", "POST", "PUT", "PATCH", "DELETE")
	})
}

func TestInformersInProtobuf(t *testing.T) {
	s := harness.Shared(t)
	for _, streamed := range []bool{true, false} {
		t.Run(fmt.Sprintf("MT-06 WATCH-08 WATCH-09 an informer over typed objects, its list streamed: %v", streamed), func(t *testing.T) {
			clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, streamed)
			config, seen := inProtobuf(s)
			ns := namespace(t, s.API(t))
			client := typedClient(t, config)
			for i := range 3 {
				putMap(t, client, ns, fmt.Sprint("m", i), "old")
			}
			factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(ns))
			maps := factory.Core().V1().ConfigMaps()
			informer := maps.Informer()
			ctx, cancel := context.WithCancel(t.Context())
			factory.Start(ctx.Done())
			defer func() { cancel(); factory.Shutdown() }()
			if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
				t.Fatal("the informer did not sync")
			}
			lister := maps.Lister().ConfigMaps(ns)
			if m, err := lister.Get("m1"); err != nil || m.Data["k"] != "old" || m.ResourceVersion == "" {
				t.Errorf("%v %v", m, err)
			}
			putMap(t, client, ns, "m1", "new")
			if err := client.CoreV1().ConfigMaps(ns).Delete(ctx, "m2", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			harness.Eventually(t, "the informer has seen the changes", func() bool {
				m, err := lister.Get("m1")
				_, gone := lister.Get("m2")
				return err == nil && m.Data["k"] == "new" && apierrors.IsNotFound(gone)
			})
			if streamed {
				seen.want(t, "WATCHLIST")
			} else {
				seen.want(t, "GET", "WATCH")
			}
		})
	}
}

// putMap creates a map, or updates it.
func putMap(t *testing.T, client *kubernetes.Clientset, ns, name, value string) {
	t.Helper()
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"k": value}}
	_, err := client.CoreV1().ConfigMaps(ns).Create(t.Context(), m, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = client.CoreV1().ConfigMaps(ns).Update(t.Context(), m, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestMetadataClientInProtobuf(t *testing.T) {
	s := harness.Shared(t)
	c := newCronTabs(t, s, nil)
	c.create("one")
	c.api.Post(configMaps(c.ns), `{"metadata":{"name":"one","labels":{"a":"b"}}}`).Want(201)
	c.run("MT-09 MT-19 metadata of custom resources and of built-in kinds", func(t *testing.T, c *cronTabs) {
		config, seen := inProtobuf(s)
		client, err := metadata.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		factory := metadatainformer.NewFilteredSharedInformerFactory(client, 0, c.ns, nil)
		defer func() { cancel(); factory.Shutdown() }()
		all := []schema.GroupVersionResource{
			{Version: "v1", Resource: "configmaps"}, {Group: c.group, Version: "v1", Resource: "crontabs"}, {Group: c.group, Version: "v1beta1", Resource: "crontabs"},
		}
		for _, r := range all {
			o, err := client.Resource(r).Namespace(c.ns).Get(ctx, "one", metav1.GetOptions{})
			if err != nil || o.Name != "one" || o.UID == "" || len(o.ManagedFields) == 0 {
				t.Errorf("%s: %v %v", r, o, err)
			}
			list, err := client.Resource(r).Namespace(c.ns).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=one"})
			if err != nil || len(list.Items) != 1 {
				t.Fatalf("%s: %v %v", r, list, err)
			}
			list.Items[0].TypeMeta = o.TypeMeta
			alike(t, "metadata of "+r.Resource, list.Items[0], o)
			factory.ForResource(r).Informer()
		}
		factory.Start(ctx.Done())
		factory.WaitForCacheSync(ctx.Done())
		c.touch("one", "2")
		for _, r := range all[1:] {
			harness.Eventually(t, "the informer has seen the change", func() bool {
				o, err := factory.ForResource(r).Lister().ByNamespace(c.ns).Get("one")
				m, ok := o.(*metav1.PartialObjectMetadata)
				return err == nil && ok && m.Generation == 2
			})
			if _, err := client.Resource(r).Namespace(c.ns).Patch(ctx, "one", types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`), metav1.PatchOptions{}); err != nil {
				t.Error(err)
			}
		}
		if err := client.Resource(all[1]).Namespace(c.ns).Delete(ctx, "one", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		seen.want(t, "GET", "PATCH", "WATCHLIST")
	})
}

func TestLeaderElectionInProtobuf(t *testing.T) {
	s := harness.Shared(t)
	t.Run("MT-06 leases elect a leader, and another when it leaves", func(t *testing.T) {
		ns := namespace(t, s.API(t))
		config, seen := inProtobuf(s)
		client := typedClient(t, config)
		leads := make(chan string, 2)
		run := func(name string) (leave func()) {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
				Lock: &resourcelock.LeaseLock{
					LeaseMeta: metav1.ObjectMeta{Namespace: ns, Name: "leader"}, Client: client.CoordinationV1(),
					LockConfig: resourcelock.ResourceLockConfig{Identity: name},
				},
				LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 50 * time.Millisecond, ReleaseOnCancel: true,
				Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { leads <- name }, OnStoppedLeading: func() {}},
			})
			if err != nil {
				t.Fatal(err)
			}
			go func() { defer close(done); e.Run(ctx) }()
			leave = func() { cancel(); <-done }
			t.Cleanup(leave)
			return leave
		}
		next := func(want string) {
			t.Helper()
			select {
			case name := <-leads:
				if name != want {
					t.Fatalf("%s leads, not %s", name, want)
				}
			case <-time.After(30 * time.Second):
				t.Fatalf("%s does not lead", want)
			}
		}
		leave := run("first")
		next("first")
		run("second")
		leave()
		next("second")
		l, err := client.CoordinationV1().Leases(ns).Get(t.Context(), "leader", metav1.GetOptions{})
		if err != nil || *l.Spec.HolderIdentity != "second" || *l.Spec.LeaseTransitions < 1 {
			t.Errorf("%v %v", l, err)
		}
		seen.want(t, "GET", "POST", "PUT")
	})
}
