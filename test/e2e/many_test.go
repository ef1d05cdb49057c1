package e2e

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/test/harness"
)

// dependents is how many objects of one owner TestManyDependents_DEL05 makes; with 100,000
// it measures.
var dependents = flag.Int("dependents", 300, "dependents of one owner")

// Each dependent of one owner is deleted once. How long that takes, and a request
// meanwhile, is logged; the rate is held by garbage.TestNoMoreIsWrittenThanTheRateAllows.
func TestManyDependents_DEL05(t *testing.T) {
	t.Parallel()
	g := harness.Start(t, harness.Options{})
	api := g.API(t)
	path := configMaps("default")
	owner := api.Post(path, configMap(t, "default", "owner", `{}`)).Want(201).Object()
	ref := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.Str("metadata.uid"), "blockOwnerDeletion": true}

	began := time.Now()
	var next atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for i := next.Add(1); i <= int64(*dependents); i = next.Add(1) {
				m := configMap(t, "default", fmt.Sprintf("dependent-%06d", i), `{}`)
				m.Set("metadata.ownerReferences", []any{ref}).Set("data", map[string]any{"text": strings.Repeat("x", 500)})
				if r, err := api.Try("POST", path, m); err != nil || r.Code != http.StatusCreated {
					t.Errorf("create: %v, %v", r, err)
					return
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d dependents created in %v; %s", *dependents, time.Since(began), memory(t, g))

	api.Delete(path + "/owner?propagationPolicy=Background").Want(200)
	began = time.Now()
	var took []time.Duration
	limit := time.Minute
	for left := -1; left != 0; {
		at := time.Now()
		api.Get(namespacePath + "/default").Want(200)
		took = append(took, time.Since(at))
		r := api.Get(path + "?limit=1&resourceVersion=0").Want(200)
		if left = len(r.Object().Items()); r.Contains("owner-none") {
			left = 1
		}
		if time.Since(began) > limit {
			t.Fatalf("not within %v", limit)
		}
		harness.Poll(10*time.Millisecond, func() bool { return false })
	}
	counted := fmt.Sprintf("\nwasmgate_garbage_collected_total %d\n", *dependents)
	harness.Eventually(t, "each is counted once", func() bool { return api.Get("/metrics").Want(200).Contains(counted) })
	slices.Sort(took)
	t.Logf("gone after %v; a get meanwhile took %v at the median, %v at the 99th percentile; %s",
		time.Since(began), took[len(took)/2], took[len(took)*99/100], memory(t, g))
}

// memory is what a gateway holds now, and held at most.
func memory(t *testing.T, g *harness.Gateway) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", g.PID()))
	if err != nil {
		return "memory unknown"
	}
	var out []string
	for _, line := range strings.Split(string(data), "\n") {
		if strings.HasPrefix(line, "VmRSS:") || strings.HasPrefix(line, "VmHWM:") {
			out = append(out, strings.Join(strings.Fields(line), " "))
		}
	}
	return strings.Join(out, ", ")
}
