package e2e

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/wasmgate/wasmgate/test/harness"
)

const (
	informerObjects = 12
	informerUpdates = 25
)

// recorder keeps, for each object, what an informer said about it.
type recorder struct {
	mu     sync.Mutex
	events map[string][]string
	total  int
	wrong  []string
}

func (r *recorder) add(kind string, obj any) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.wrong = append(r.wrong, fmt.Sprintf("%s of a %T", kind, obj))
		return
	}
	n, _, _ := unstructured.NestedInt64(u.Object, "spec", "replicas")
	r.mu.Lock()
	defer r.mu.Unlock()
	if u.GroupVersionKind().Version != "v1" || u.Object["host"] != "h" || u.Object["hostPort"] != nil {
		r.wrong = append(r.wrong, fmt.Sprintf("%s of an object that is not converted: %v", kind, u.Object))
	}
	r.events[u.GetName()] = append(r.events[u.GetName()], kind+strconv.FormatInt(n, 10))
	r.total++
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

// wantedEvents is what every object goes through.
func wantedEvents() []string {
	all := []string{"add0"}
	for i := 1; i <= informerUpdates; i++ {
		all = append(all, "update"+strconv.Itoa(i))
	}
	return append(all, "delete"+strconv.Itoa(informerUpdates))
}

// TestInformer follows a converted version with client-go's informer, as it
// is, while others write and the gateway restarts.
func TestInformer(t *testing.T) {
	t.Run("CRD-11 WATCH-04 WATCH-09 every change once, in order", func(t *testing.T) {
		server := harness.Shared(t)
		var restart func()
		var c *cronTabs
		if server.External {
			c = newWebhookCronTabs(t, server, harness.NewWebhook(t))
		} else {
			g := harness.Start(t, harness.Options{})
			pushModule(t, g.API(t), "crontab", harness.Module(t, crontabModule))
			c = newWasmCronTabs(t, &g.Server, "crontab")
			restart = func() {
				g.Terminate(t)
				g.Restart(t)
			}
		}
		followAndWrite(t, c, restart)
	})
}

func followAndWrite(t *testing.T, c *cronTabs, restart func()) {
	client, err := dynamic.NewForConfig(c.s.Config())
	if err != nil {
		t.Fatal(err)
	}
	resource := schema.GroupVersionResource{Group: c.group, Version: "v1", Resource: "crontabs"}
	rec := &recorder{events: map[string][]string{}}
	startInformer(t, client, resource, rec)

	var writers sync.WaitGroup
	for w := range 4 {
		writers.Add(1)
		go func() {
			defer writers.Done()
			for i := w; i < informerObjects; i += 4 {
				version := []string{"v1", "v1beta1"}[i%2]
				if err := live(client.Resource(resource.GroupResource().WithVersion(version)).Namespace(c.ns), c.group, version, fmt.Sprintf("item-%d", i)); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	want := informerObjects * len(wantedEvents())
	harness.Eventually(t, "half of the changes were seen", func() bool { return rec.count() >= want/2 || t.Failed() })
	if restart != nil {
		restart()
	}
	writers.Wait()
	// Whether the count is right is not decided here but below, object by object.
	harness.Poll(30*time.Second, func() bool { return rec.count() >= want || t.Failed() })
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for _, w := range rec.wrong {
		t.Error(w)
	}
	for i := range informerObjects {
		name := fmt.Sprintf("item-%d", i)
		if got := rec.events[name]; !slices.Equal(got, wantedEvents()) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func startInformer(t *testing.T, client dynamic.Interface, resource schema.GroupVersionResource, rec *recorder) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	informer := factory.ForResource(resource).Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { rec.add("add", o) },
		UpdateFunc: func(_, o any) { rec.add("update", o) },
		DeleteFunc: func(o any) { rec.add("delete", o) },
	}); err != nil {
		t.Fatal(err)
	}
	factory.Start(ctx.Done())
	synced, stop := context.WithTimeout(ctx, 30*time.Second)
	defer stop()
	if !cache.WaitForCacheSync(synced.Done(), informer.HasSynced) {
		t.Fatal("the informer did not sync")
	}
}

// live creates an object, updates it step by step and deletes it, each exactly
// once: when the gateway goes away in between it looks what happened.
func live(client dynamic.ResourceInterface, group, version, name string) error {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/" + version, "kind": "CronTab", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"replicas": int64(0)},
	}}
	if version == "v1" {
		object.Object["host"], object.Object["port"] = "h", "1"
	} else {
		object.Object["hostPort"] = "h:1"
	}
	now, err := persist(client, name, 0, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return client.Create(ctx, object, metav1.CreateOptions{})
	})
	for i := int64(1); err == nil && i <= informerUpdates; i++ {
		next := now.DeepCopy()
		next.Object["spec"].(map[string]any)["replicas"] = i
		now, err = persist(client, name, i, func(ctx context.Context) (*unstructured.Unstructured, error) {
			return client.Update(ctx, next, metav1.UpdateOptions{})
		})
	}
	if err != nil {
		return err
	}
	_, err = persist(client, name, -1, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return nil, client.Delete(ctx, name, metav1.DeleteOptions{})
	})
	return err
}

// persist repeats a write until it happened; reached is the object's counter
// after it, -1 for a deletion. A refusal by the API is final.
func persist(client dynamic.ResourceInterface, name string, reached int64, write func(context.Context) (*unstructured.Unstructured, error)) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		o, err := write(ctx)
		if err == nil {
			tick.Stop()
			return o, nil
		}
		now, lookErr := client.Get(ctx, name, metav1.GetOptions{})
		n := int64(-1)
		if lookErr == nil {
			n, _, _ = unstructured.NestedInt64(now.Object, "spec", "replicas")
		}
		if n == reached && (lookErr == nil || apierrors.IsNotFound(lookErr)) {
			tick.Stop()
			return now, nil
		}
		if apierrors.IsConflict(err) || apierrors.IsInvalid(err) || ctx.Err() != nil {
			return nil, fmt.Errorf("%s to reach %d: %w", name, reached, err)
		}
		<-tick.C
	}
}
