package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// metric is the sum of the metrics that have a name and all the labels.
func metric(t testing.TB, api *harness.API, name string, labels ...string) (sum float64) {
	t.Helper()
	for line := range strings.Lines(string(api.Get("/metrics").Want(200).Body)) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), name+"{")
		for _, l := range labels {
			ok = ok && strings.Contains(rest, l)
		}
		if !ok {
			continue
		}
		_, value, _ := strings.Cut(rest, "} ")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		sum += v
	}
	return sum
}

// TestFeatureGates turns on a gateway what gates turn.
func TestFeatureGates(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	g := harness.Start(t, harness.Options{Args: []string{
		"--feature-gates", "APIResponseCompression=false,ListFromCacheSnapshot=false,WatchList=false,ConsistentListFromCache=true",
	}})
	c := newCronTabs(t, &g.Server, nil)
	c.run("CMP-01 nothing is compressed", func(t *testing.T, c *cronTabs) {
		c.api.Post(configMaps(c.ns), fmt.Sprintf(`{"metadata":{"name":"large"},"data":{"k":%q}}`, strings.Repeat("text ", 40<<10))).Want(201)
		for _, path := range []string{configMaps(c.ns), configMaps(c.ns) + "/large"} {
			if r := c.api.Get(path, "Accept-Encoding", "gzip").Want(200); r.Header.Get("Content-Encoding") != "" || r.Header.Get("Vary") != "" {
				t.Errorf("%s: %v", path, r.Header)
			}
		}
	})
	c.run("WATCH-10 no watch begins with what exists", func(t *testing.T, c *cronTabs) {
		c.api.Get(c.list("v1")+"?watch=1&"+streaming).WantStatus(422, "Invalid", "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")
		c.watch("timeoutSeconds=1").End()
	})
	c.run("VER-17 a metric tells which are on", func(t *testing.T, c *cronTabs) {
		text := c.api.Get("/metrics").Want(200)
		for _, want := range []string{
			`kubernetes_feature_enabled{name="APIResponseCompression",stage="BETA"} 0`, `kubernetes_feature_enabled{name="CBORServingAndStorage",stage="ALPHA"} 0`,
			`kubernetes_feature_enabled{name="ConsistentListFromCache",stage=""} 1`,
			`kubernetes_feature_enabled{name="AllAlpha",stage="ALPHA"} 0`, `kubernetes_feature_enabled{name="AllBeta",stage="BETA"} 0`,
		} {
			if !text.Contains(want + "\n") {
				t.Errorf("%s is missing", want)
			}
		}
		if !strings.Contains(g.Log(), "Setting GA feature gate ConsistentListFromCache=true. It will be removed in a future release.") {
			t.Error("the log says nothing of a setting that does nothing")
		}
	})
	c.run("RV-17 with its gate off every list of the past is read from etcd", func(t *testing.T, c *cronTabs) {
		if reads := c.pastLists(); reads == 0 {
			t.Error("etcd was not asked")
		}
	})
	c.run("RV-17 with its gate on lists of the past are in memory", func(t *testing.T, _ *cronTabs) {
		if reads := newCronTabs(t, harness.Shared(t), nil).pastLists(); reads != 0 {
			t.Errorf("etcd was asked %v times", reads)
		}
	})
	c.run("RV-17 without what memory had, etcd answers", func(t *testing.T, c *cronTabs) {
		c.create("before")
		then := c.rv()
		c.api.Delete(c.path("v1", "before")).Want(200)
		g.Terminate(t)
		g.Restart(t)
		c.awaitServed("v1")
		c.api.Get(c.list("v1")+"?resourceVersionMatch=Exact&resourceVersion="+then).Want(200).Equal("metadata.resourceVersion", then).Equal("items.0.metadata.name", "before")
	})
}

// TestAnEarlierRelease has a gateway emulate the oldest release, and compares with one
// that does not.
func TestAnEarlierRelease(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	g := harness.Start(t, harness.Options{Args: []string{"--emulated-version=1.33", "--show-hidden-metrics-for-version=1.32"}})
	then, now := newCronTabs(t, &g.Server, nil), newCronTabs(t, harness.Shared(t), nil)
	const claims = "/apis/resource.k8s.io/v1/resourceclaims"
	then.run("VER-08 a version is 404 in a release without it", func(t *testing.T, c *cronTabs) {
		c.api.Get(claims).Want(404)
		now.api.Get(claims).Want(200)
		c.api.Get("/version").Want(200).Equal("minor", "36").Equal("emulationMinor", "33").Equal("minCompatibilityMinor", "32")
		now.api.Get("/version").Want(200).Equal("minor", "36").Equal("emulationMinor", "36")
		c.create("x")
	})
	then.run("VER-20 a metric is deprecated in later releases, which the log says", func(t *testing.T, c *cronTabs) {
		const help = "# HELP apiserver_storage_objects [STABLE] "
		if text := c.api.Eventually("/metrics", func(r *harness.Reply) bool { // the cache hears of writes from etcd
			return r.Contains(`apiserver_storage_objects{resource="crontabs.` + c.group + `"} 1`)
		}); !text.Contains(help + "Objects") {
			t.Error("the metric is deprecated")
		}
		if text := now.api.Get("/metrics").Want(200); !text.Contains(help + "(Deprecated from 1.34) Objects") {
			t.Error("the metric is not deprecated")
		}
		const warning = "The metric apiserver_storage_objects is deprecated from 1.34"
		if strings.Contains(g.Log(), warning) || !strings.Contains(harness.Start(t, harness.Options{}).Log(), warning) {
			t.Error("the log of the earlier release has the warning, or that of the current one lacks it")
		}
	})
}

// pastLists lists past revisions, exactly and by pages, and returns how often
// etcd was asked for it. The answers are checked.
func (c *cronTabs) pastLists() (reads float64) {
	c.t.Helper()
	asked := func() float64 {
		return metric(c.t, c.api, "etcd_request_duration_seconds_count", `operation="list"`, `group="`+c.group+`"`)
	}
	for i := range 3 {
		c.create(fmt.Sprintf("past-%d", i))
	}
	all := c.api.Get(c.list("v1")).Want(200)
	page := c.api.Get(c.list("v1") + "?limit=2").Want(200).Object()
	c.touch("past-0", "99")
	c.api.Delete(c.path("v1", "past-1")).Want(200)
	c.api.Delete(c.path("v1", "past-2")).Want(200)
	before := asked()
	for _, query := range []string{"?resourceVersionMatch=Exact", "?resourceVersionMatch=Exact&limit=3", "?limit=3"} {
		r := c.api.Get(c.list("v1") + query + "&resourceVersion=" + all.Object().RV()).Want(200)
		if string(r.Body) != string(all.Body) {
			c.t.Errorf("%s: %s, then it was %s", query, r.Body, all.Body)
		}
	}
	next(c.api, c.list("v1")+"?limit=2", page).Want(200).Equal("items.0.metadata.name", "past-2").Equal("items.1.metadata.name", "").Equal("metadata.resourceVersion", page.RV())
	reads = asked() - before
	c.api.Delete(c.path("v1", "past-0")).Want(200)
	return reads
}
