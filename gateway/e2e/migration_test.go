package e2e

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/gatewaytest"
)

const (
	migrationPath    = "/apis/storagemigration.k8s.io/v1/storageversionmigrations"
	migrationObjects = 5000
)

// TestMigrationCrash kills the gateway in the middle of a migration of 5,000
// objects, while others write to them.
func TestMigrationCrash(t *testing.T) {
	gatewaytest.SkipExternal(t)
	t.Run("CRD-32 CRD-33 it resumes, ends right and loses no update", func(t *testing.T) {
		g := gatewaytest.Start(t, gatewaytest.Options{})
		pushModule(t, g.API(t), "crontab", gatewaytest.Module(t, crontabModule))
		c := newWasmCronTabs(t, &g.Server, "crontab")
		createMany(t, c, migrationObjects)
		etcd := g.Etcd(t)
		prefix := "/registry/" + c.group + "/crontabs/"
		if got := storedVersions(t, etcd, prefix); got[c.group+"/v1beta1"] != migrationObjects {
			t.Fatalf("before the migration: %v", got)
		}
		crd := c.api.Get(c.crdPath()).Want(200).Object()
		storeAt(crd, "v1")
		c.api.Put(c.crdPath(), crd).Want(200)
		c.api.Eventually(c.crdPath(), func(r *gatewaytest.Reply) bool {
			return r.Str("status.storedVersions") == `["v1beta1","v1"]`
		})

		counters := startCounters(t, c)
		migration := object{
			"apiVersion": "storagemigration.k8s.io/v1", "kind": "StorageVersionMigration",
			"metadata": map[string]any{"name": "crash", "annotations": map[string]any{"migration.wasmgate.dev/rate": "2000"}},
			"spec":     map[string]any{"resource": map[string]any{"group": c.group, "resource": "crontabs"}},
		}
		c.api.Post(migrationPath, migration).Want(201)
		gatewaytest.Eventually(t, "a part is migrated", func() bool {
			return storedVersions(t, etcd, prefix)[c.group+"/v1"] > migrationObjects/5
		})
		done := storedVersions(t, etcd, prefix)
		g.Kill(t)
		if done[c.group+"/v1beta1"] == 0 {
			t.Fatalf("the migration was over before the crash: %v", done)
		}
		g.Restart(t)

		awaitCondition(c.api, migrationPath+"/crash", "Succeeded", "True")
		counters.end(t)
		if got := storedVersions(t, etcd, prefix); got[c.group+"/v1"] != migrationObjects || len(got) != 1 {
			t.Errorf("after the migration: %v", got)
		}
		c.api.Get(c.crdPath()).Want(200).Equal("status.storedVersions", `["v1"]`)
		counters.check(t)
	})
}

// createMany creates objects at v1beta1 with eight clients.
func createMany(t *testing.T, c *cronTabs, n int) {
	t.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				o := object{
					"apiVersion": c.group + "/v1beta1", "kind": "CronTab", "hostPort": fmt.Sprintf("host-%d:80", i),
					"metadata": map[string]any{"name": fmt.Sprintf("item-%d", i)}, "spec": map[string]any{"replicas": 0},
				}
				if r, err := c.api.Try("POST", c.list("v1beta1"), o); err != nil || r.Code != 201 {
					t.Errorf("create: %v %v", r, err)
					return
				}
			}
		}()
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// counters are clients that count up in objects of their own, at both
// versions, conditional on what they read. Each goes through its objects in
// random order, so that many are written before, during and after their
// migration.
type counters struct {
	c    *cronTabs
	stop chan struct{}
	wg   sync.WaitGroup

	mu     sync.Mutex
	counts map[string]int64
}

const counterClients = 4

func startCounters(t *testing.T, c *cronTabs) *counters {
	k := &counters{c: c, stop: make(chan struct{}), counts: map[string]int64{}}
	for w := range counterClients {
		k.wg.Add(1)
		go func() {
			defer k.wg.Done()
			for {
				select {
				case <-k.stop:
					return
				default:
					k.count(t, fmt.Sprintf("item-%d", rand.IntN(migrationObjects/counterClients)*counterClients+w))
				}
			}
		}()
	}
	return k
}

// count adds one to an object's counter and remembers it. A gateway that is
// away is tried again; whether the last write happened is then read.
func (k *counters) count(t *testing.T, name string) {
	version := []string{"v1", "v1beta1"}[rand.IntN(2)]
	k.mu.Lock()
	want := k.counts[name] + 1
	k.mu.Unlock()
	for {
		r, err := k.c.api.Try("GET", k.c.path(version, name), nil)
		if err == nil && r.Code == 200 {
			o := r.Object()
			if now := o.Str("spec.replicas"); now == strconv.FormatInt(want, 10) {
				break
			} else if now != strconv.FormatInt(want-1, 10) {
				t.Errorf("%s is at %s, want %d: an update was lost or made twice", name, now, want-1)
				return
			}
			o.Set("spec.replicas", want)
			if r, err = k.c.api.Try("PUT", k.c.path(version, name), o); err == nil && r.Code == 200 {
				break
			}
		}
		// Conflict: the migration was faster. Unreachable or starting: try again.
		if err == nil && r.Code != 409 && r.Code < 500 && r.Code != 429 && r.Code != 404 {
			t.Errorf("%s: %d %s", name, r.Code, r.Body)
			return
		}
		select {
		case <-k.stop:
			return
		default:
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.counts[name] = want
}

// end stops the clients.
func (k *counters) end(t *testing.T) {
	t.Helper()
	close(k.stop)
	k.wg.Wait()
}

// check reads every object at both versions.
func (k *counters) check(t *testing.T) {
	t.Helper()
	if len(k.counts) < 10 {
		t.Errorf("only %d objects were written meanwhile", len(k.counts))
	}
	old := k.c.api.Get(k.c.list("v1beta1")).Want(200).Object().Items()
	for i, o := range k.c.api.Get(k.c.list("v1")).Want(200).Object().Items() {
		name := o.Str("metadata.name")
		if want := k.counts[name]; o.Str("spec.replicas") != strconv.FormatInt(want, 10) {
			// The one write that was under way when the clients stopped counts either way.
			if o.Str("spec.replicas") != strconv.FormatInt(want+1, 10) {
				t.Errorf("%s is at %s, want %d", name, o.Str("spec.replicas"), want)
			}
		}
		number := name[len("item-"):]
		if o.Str("host") != "host-"+number || o.Str("port") != "80" || old[i].Str("hostPort") != "host-"+number+":80" {
			t.Errorf("%s is %v at v1 and %v at v1beta1", name, o, old[i])
		}
	}
	t.Logf("%d objects were written meanwhile", len(k.counts))
}
