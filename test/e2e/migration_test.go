package e2e

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/test/harness"
)

const (
	migrationPath    = "/apis/storagemigration.k8s.io/v1/storageversionmigrations"
	migrationObjects = 5000
)

// spread is a custom resource with objects in several namespaces: the one with
// number n is named item-n and is in the n-th of them, in turn.
type spread struct {
	*cronTabs
	namespaces []string
}

func (s *spread) item(version string, n int) string {
	return s.collection(version, n) + "/item-" + strconv.Itoa(n)
}

func (s *spread) collection(version string, n int) string {
	return "/apis/" + s.group + "/" + version + "/namespaces/" + s.namespaces[n%len(s.namespaces)] + "/crontabs"
}

// TestMigrationCrash kills the gateway in the middle of a migration of 5,000
// objects in three namespaces, and again when the last was rewritten, while
// others write to them.
func TestMigrationCrash(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	t.Run("CRD-32 CRD-33 it resumes, ends right and loses no update", func(t *testing.T) {
		g := harness.Start(t, harness.Options{})
		pushModule(t, g.API(t), "crontab", harness.Module(t, crontabModule))
		c := newWasmCronTabs(t, &g.Server, "crontab")
		all := &spread{c, []string{c.ns, namespace(t, c.api), namespace(t, c.api)}}
		createMany(t, all, migrationObjects)
		etcd := g.Etcd(t)
		prefix := "/registry/" + c.group + "/crontabs/"
		if got := storedVersions(t, etcd, prefix); got[c.group+"/v1beta1"] != migrationObjects {
			t.Fatalf("before the migration: %v", got)
		}
		crd := c.api.Get(c.crdPath()).Want(200).Object()
		storeAt(crd, "v1")
		c.api.Put(c.crdPath(), crd).Want(200)
		c.api.Eventually(c.crdPath(), func(r *harness.Reply) bool {
			return r.Str("status.storedVersions") == `["v1beta1","v1"]`
		})

		counters := startCounters(t, all)
		migration := object{
			"apiVersion": "storagemigration.k8s.io/v1", "kind": "StorageVersionMigration",
			"metadata": map[string]any{"name": "crash", "annotations": map[string]any{"migration.wasmgate.dev/rate": "500"}},
			"spec":     map[string]any{"resource": map[string]any{"group": c.group, "resource": "crontabs"}},
		}
		c.api.Post(migrationPath, migration).Want(201)
		harness.Eventually(t, "a part is migrated", func() bool {
			return storedVersions(t, etcd, prefix)[c.group+"/v1"] > migrationObjects/5
		})
		done := storedVersions(t, etcd, prefix)
		g.Kill(t)
		if done[c.group+"/v1beta1"] == 0 {
			t.Fatalf("the migration was over before the crash: %v", done)
		}
		g.Restart(t)

		// Between the last rewrite and the trimmed storedVersions are some
		// milliseconds.
		awaitLastRewrite(t, etcd, prefix, c.group+"/v1", migrationObjects)
		g.Kill(t)
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

// awaitLastRewrite follows etcd until so many objects are stored at a version.
func awaitLastRewrite(t *testing.T, etcd *clientv3.Client, prefix, apiVersion string, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	at := []byte(`"apiVersion":"` + apiVersion + `"`)
	done := map[string]bool{}
	now, err := etcd.Get(ctx, prefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatalf("etcd: %v", err)
	}
	for _, kv := range now.Kvs {
		if bytes.Contains(kv.Value, at) {
			done[string(kv.Key)] = true
		}
	}
	for changes := etcd.Watch(ctx, prefix, clientv3.WithPrefix(), clientv3.WithRev(now.Header.Revision+1)); len(done) < n; {
		change, ok := <-changes
		if err := change.Err(); err != nil || !ok {
			t.Fatalf("etcd: %d of %d are rewritten: %v, %v", len(done), n, err, ctx.Err())
		}
		for _, e := range change.Events {
			if bytes.Contains(e.Kv.Value, at) {
				done[string(e.Kv.Key)] = true
			}
		}
	}
}

// createMany creates objects at v1beta1 with eight clients.
func createMany(t *testing.T, c *spread, n int) {
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
				if r, err := c.api.Try("POST", c.collection("v1beta1", int(i)), o); err != nil || r.Code != 201 {
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
	c    *spread
	stop chan struct{}
	wg   sync.WaitGroup

	mu     sync.Mutex
	counts map[int]int64 // by object: what was acknowledged
	open   map[int]bool  // whose last write was tried, and no reply came
}

const counterClients = 4

func startCounters(t *testing.T, c *spread) *counters {
	k := &counters{c: c, stop: make(chan struct{}), counts: map[int]int64{}, open: map[int]bool{}}
	for w := range counterClients {
		k.wg.Add(1)
		go func() {
			defer k.wg.Done()
			for {
				select {
				case <-k.stop:
					return
				default:
					k.count(t, rand.IntN(migrationObjects/counterClients)*counterClients+w)
				}
			}
		}()
	}
	return k
}

// count adds one to an object's counter and remembers it. A gateway that is
// away is tried again; whether the last write happened is then read.
func (k *counters) count(t *testing.T, n int) {
	version := []string{"v1", "v1beta1"}[rand.IntN(2)]
	k.mu.Lock()
	want := k.counts[n] + 1
	k.mu.Unlock()
	for {
		r, err := k.c.api.Try("GET", k.c.item(version, n), nil)
		if err == nil && r.Code == 200 {
			o := r.Object()
			if now := o.Str("spec.replicas"); now == strconv.FormatInt(want, 10) {
				break
			} else if now != strconv.FormatInt(want-1, 10) {
				t.Errorf("item-%d is at %s, want %d: an update was lost or made twice", n, now, want-1)
				return
			}
			o.Set("spec.replicas", want)
			if r, err = k.c.api.Try("PUT", k.c.item(version, n), o); err == nil && r.Code == 200 {
				break
			}
			if err != nil || r.Code >= 500 {
				k.mu.Lock()
				k.open[n] = true
				k.mu.Unlock()
			}
		}
		// Conflict: the migration was faster. Unreachable or starting: try again.
		if err == nil && r.Code != 409 && r.Code < 500 && r.Code != 429 && r.Code != 404 {
			t.Errorf("item-%d: %d %s", n, r.Code, r.Body)
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
	k.counts[n] = want
	delete(k.open, n)
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
	old := k.c.api.Get(k.c.all("v1beta1")).Want(200).Object().Items()
	now := k.c.api.Get(k.c.all("v1")).Want(200).Object().Items()
	if len(now) != migrationObjects || len(old) != migrationObjects {
		t.Fatalf("%d objects at v1, %d at v1beta1", len(now), len(old))
	}
	for i, o := range now {
		name := o.Str("metadata.name")
		number := name[len("item-"):]
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		want := strconv.FormatInt(k.counts[n], 10)
		if got := o.Str("spec.replicas"); got != want && !(k.open[n] && got == strconv.FormatInt(k.counts[n]+1, 10)) {
			t.Errorf("%s is at %s, want %s; a write without a reply: %t", name, got, want, k.open[n])
		}
		if o.Str("host") != "host-"+number || o.Str("port") != "80" || old[i].Str("hostPort") != "host-"+number+":80" {
			t.Errorf("%s is %v at v1 and %v at v1beta1", name, o, old[i])
		}
	}
	t.Logf("%d objects were written meanwhile", len(k.counts))
}
