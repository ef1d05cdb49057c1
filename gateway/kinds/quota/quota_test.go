package quota_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	quotas "github.com/wasmgate/wasmgate/gateway/kinds/quota"
	"github.com/wasmgate/wasmgate/gateway/kinds/quota/recount"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

var (
	configMaps = schema.GroupResource{Resource: "configmaps"}
	pods       = schema.GroupResource{Resource: "pods"}
)

func gateway(t *testing.T, store *storagetest.Memory) *realengine.Engine {
	t.Helper()
	return realengine.Over(t, store, func(e *engine.Engine) admission.Chain {
		return admission.Chain{Charging: []admission.Plugin{quotas.New(e.Catalog(), nil)}}
	})
}

func tree(t *testing.T, kind, name, rest string) *unstructured.Unstructured {
	t.Helper()
	out, _, err := object.Parse([]byte(`{"apiVersion":"v1","kind":"` + kind + `","metadata":{"name":"` + name + `","namespace":"work"}` + rest + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: out}
}

// limit makes a namespace with a quota that nothing is used of.
func limit(t *testing.T, e *realengine.Engine, hard, used string) {
	t.Helper()
	ctx := context.Background()
	ns := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "work"}}}
	if _, err := e.Create(ctx, gvr.Namespaces, ns); err != nil {
		t.Fatal(err)
	}
	made, err := e.Create(ctx, gvr.Quotas, tree(t, "ResourceQuota", "q", `,"spec":{"hard":`+hard+`}`))
	if err != nil || used == "" {
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	status, _, _ := object.Parse([]byte(`{"hard":` + hard + `,"used":` + used + `}`))
	made.Object["status"] = status
	if _, err := e.Update(ctx, gvr.Quotas, "status", made); err != nil {
		t.Fatal(err)
	}
}

// used is what the status says of a resource.
func used(t *testing.T, e *realengine.Engine, name string) string {
	t.Helper()
	if err := e.Fresh(context.Background()); err != nil {
		t.Fatal(err)
	}
	q, err := e.Get(context.Background(), gvr.Quotas, "work", "q")
	if err != nil {
		t.Fatal(err)
	}
	value, _, _ := unstructured.NestedString(q.Object, "status", "used", name)
	return value
}

func fresh(t *testing.T, all ...*realengine.Engine) {
	t.Helper()
	for _, e := range all {
		if err := e.Fresh(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

// Two gateways never let more in together than a quota allows, and no less.
func TestGatewaysDoNotExceedAQuotaTogether_ADM03(t *testing.T) {
	store := storagetest.NewMemory()
	all := []*realengine.Engine{gateway(t, store), gateway(t, store)}
	limit(t, all[0], `{"count/configmaps":"25"}`, `{"count/configmaps":"0"}`)
	fresh(t, all...)
	var writers sync.WaitGroup
	var made atomic.Int32
	for n := range 80 {
		writers.Go(func() {
			_, err := all[n%2].Create(t.Context(), configMaps, tree(t, "ConfigMap", fmt.Sprint("c", n), ""))
			switch {
			case err == nil:
				made.Add(1)
			case !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=25, limited: count/configmaps=25"):
				t.Error(err)
			}
		})
	}
	writers.Wait()
	if made.Load() != 25 || used(t, all[1], "count/configmaps") != "25" {
		t.Errorf("%d were made, %s are used", made.Load(), used(t, all[1], "count/configmaps"))
	}
}

// What is not written uses nothing.
func TestRefusedWritesAndDryRunsUseNothing_DRY01(t *testing.T) {
	e := gateway(t, storagetest.NewMemory())
	limit(t, e, `{"count/configmaps":"5"}`, `{"count/configmaps":"0"}`)
	fresh(t, e)
	c := e.Catalog.Snapshot().Resource(configMaps)
	target := resource.Target{Resource: c, Version: c.Def.Version("v1"), Namespace: "work"}
	for _, body := range []string{`{"metadata":{"name":"Not valid"}}`, `{"metadata":{"name":"c"},"data":1}`} {
		if _, err := e.Verbs.Create(t.Context(), target, []byte(body), resource.WriteOptions{}); err == nil {
			t.Error("it is made")
		}
	}
	if _, err := e.Verbs.Create(t.Context(), target, []byte(`{"metadata":{"name":"c"}}`), resource.WriteOptions{DryRun: true}); err != nil {
		t.Error(err)
	}
	if n := used(t, e, "count/configmaps"); n != "0" {
		t.Errorf("used: %s", n)
	}
	controllertest.MustCreate(t, e, configMaps, tree(t, "ConfigMap", "c", "").Object)
	if _, err := e.Create(t.Context(), configMaps, tree(t, "ConfigMap", "c", "")); !apierrors.IsAlreadyExists(err) {
		t.Error(err)
	}
	if n := used(t, e, "count/configmaps"); n != "1" {
		t.Errorf("used: %s", n)
	}
}

// A quota that counts quotas exists already when one of its name is created.
func TestAQuotaIsNotChargedToItself(t *testing.T) {
	e := gateway(t, storagetest.NewMemory())
	limit(t, e, `{"resourcequotas":"5"}`, `{"resourcequotas":"1"}`)
	fresh(t, e)
	c := e.Catalog.Snapshot().Resource(gvr.Quotas)
	target := resource.Target{Resource: c, Version: c.Def.Version("v1"), Namespace: "work"}
	for _, dry := range []bool{false, true} {
		if _, err := e.Verbs.Create(t.Context(), target, []byte(`{"metadata":{"name":"q"}}`), resource.WriteOptions{DryRun: dry}); !apierrors.IsAlreadyExists(err) {
			t.Error(err)
		}
	}
	if _, err := e.Create(t.Context(), gvr.Quotas, tree(t, "ResourceQuota", "r", "")); err != nil || used(t, e, "resourcequotas") != "2" {
		t.Errorf("%v, %s are used", err, used(t, e, "resourcequotas"))
	}
}

// More quotas than fit a transaction refuse what they count, and say so.
func TestTooManyQuotas(t *testing.T) {
	e := gateway(t, storagetest.NewMemory())
	limit(t, e, `{"count/configmaps":"5"}`, `{"count/configmaps":"0"}`)
	for n := range 100 {
		made, err := e.Create(t.Context(), gvr.Quotas, tree(t, "ResourceQuota", fmt.Sprint("q", n), `,"spec":{"hard":{"count/configmaps":"5"}}`))
		if err == nil {
			made.Object["status"] = map[string]any{"hard": map[string]any{"count/configmaps": "5"}, "used": map[string]any{"count/configmaps": "0"}}
			_, err = e.Update(t.Context(), gvr.Quotas, "status", made)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	fresh(t, e)
	if _, err := e.Create(t.Context(), configMaps, tree(t, "ConfigMap", "c", "")); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "101 ResourceQuotas of the namespace count it: at most 100 can") {
		t.Error(err)
	}
	if err := e.Delete(t.Context(), gvr.Quotas, "work", "q0", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	fresh(t, e)
	if _, err := e.Create(t.Context(), configMaps, tree(t, "ConfigMap", "c", "")); err != nil {
		t.Error(err)
	}
}

// A quota that goes, or comes again, does not stand in the way of a write that
// has met it.
func TestQuotasThatComeAndGo(t *testing.T) {
	store := storagetest.NewMemory()
	writer, other := gateway(t, store), gateway(t, store)
	limit(t, other, `{"count/configmaps":"100"}`, `{"count/configmaps":"0"}`)
	for n := range 30 {
		fresh(t, writer, other)
		q, err := other.Get(t.Context(), gvr.Quotas, "work", "q")
		if err == nil {
			err = other.Delete(t.Context(), gvr.Quotas, "work", "q", metav1.DeleteOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Create(t.Context(), configMaps, tree(t, "ConfigMap", fmt.Sprint("c", n), "")); err != nil {
			t.Fatal(err)
		}
		status := q.Object["status"]
		q.SetResourceVersion("")
		q.SetUID("")
		made := controllertest.MustCreate(t, other, gvr.Quotas, q.Object)
		made.Object["status"] = status
		if _, err := other.Update(t.Context(), gvr.Quotas, "status", made); err != nil {
			t.Fatal(err)
		}
	}
}

// The status says what is used of a new quota, and when something goes or ends.
func TestStatusFollowsObjects_ADM04(t *testing.T) {
	e := gateway(t, storagetest.NewMemory())
	controllertest.Start(t, e, recount.New(e))
	pod := `,"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"250m"}}}]}`
	limit(t, e, `{"count/configmaps":"5","pods":"5","requests.cpu":"1","count/crontabs.stable.example.com":"1"}`, "")
	is := func(want map[string]string) {
		t.Helper()
		controllertest.Eventually(t, e, fmt.Sprint(want), func() bool {
			for name, n := range want {
				if used(t, e, name) != n {
					return false
				}
			}
			return true
		})
	}
	is(map[string]string{"count/configmaps": "0", "pods": "0", "requests.cpu": "0", "count/crontabs.stable.example.com": "0"})
	for _, name := range []string{"a", "b"} {
		controllertest.MustCreate(t, e, pods, tree(t, "Pod", name, pod).Object)
		controllertest.MustCreate(t, e, configMaps, tree(t, "ConfigMap", name, "").Object)
	}
	is(map[string]string{"count/configmaps": "2", "pods": "2", "requests.cpu": "500m"})
	if err := e.Delete(t.Context(), configMaps, "work", "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	ended := controllertest.MustGet(t, e, pods, "work", "a")
	ended.Object["status"] = map[string]any{"phase": "Succeeded"}
	if _, err := e.Update(t.Context(), pods, "status", ended); err != nil {
		t.Fatal(err)
	}
	is(map[string]string{"count/configmaps": "1", "pods": "1", "requests.cpu": "250m"})
	// Of what is counted later, less can be allowed than there is.
	q := controllertest.MustGet(t, e, gvr.Quotas, "work", "q")
	q.Object["spec"] = map[string]any{"hard": map[string]any{"count/pods": "1"}}
	if _, err := e.Update(t.Context(), gvr.Quotas, "", q); err != nil {
		t.Fatal(err)
	}
	is(map[string]string{"count/pods": "2", "pods": ""})
	if _, err := e.Create(t.Context(), pods, tree(t, "Pod", "c", pod)); !apierrors.IsForbidden(err) {
		t.Error(err)
	}
}

// A quota whose scopes cannot be read does not keep the others of its namespace
// from being counted.
func TestAQuotaThatCannotBeCountedHoldsUpNoOther(t *testing.T) {
	e := gateway(t, storagetest.NewMemory())
	limit(t, e, `{"count/configmaps":"5"}`, `{"count/configmaps":"3"}`)
	controllertest.MustCreate(t, e, pods, tree(t, "Pod", "p", `,"spec":{"priorityClassName":"high","containers":[{"name":"c","image":"i"}]}`).Object)
	controllertest.MustCreate(t, e, gvr.Quotas, tree(t, "ResourceQuota", "a",
		`,"spec":{"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["no label!"]}]}}`).Object)
	controllertest.Start(t, e, recount.New(e))
	controllertest.Eventually(t, e, "the other is counted", func() bool { return used(t, e, "count/configmaps") == "0" })
}
