package e2e

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	prometheus "github.com/prometheus/common/model"

	"github.com/wasmgate/wasmgate/test/harness"
)

// absent are metrics of class STABLE or BETA that no gateway has: they count the metrics of
// a library's registry.
var absent = []string{"disabled_metrics_total", "hidden_metrics_total", "registered_metrics_total"}

// otherwise are metrics whose class, labels or buckets are not kube-apiserver's, and why.
var otherwise = map[string]string{
	"apiserver_webhooks_x509_missing_san_total":   "a later release of the library has them in the class BETA",
	"apiserver_webhooks_x509_insecure_sha1_total": "a later release of the library has them in the class BETA",
}

// known is a metric of kube-apiserver's.
type known struct{ kind, class, labels, bounds string }

// TestMetricsAreKubeAPIServers: dashboards and alerts are made for kube-apiserver's
// metrics. All of class STABLE or BETA are there, and whatever is there has its type,
// labels and buckets.
func TestMetricsAreKubeAPIServers(t *testing.T) {
	t.Parallel()
	g := harness.Start(t, harness.Options{})
	api := g.API(t)
	busy(t, api)
	families := familiesOf(t, api)
	for name, want := range knownMetrics(t) {
		f := families[name]
		switch {
		case f == nil && (want.class == "STABLE" || want.class == "BETA") && !slices.Contains(absent, name):
			t.Errorf("%s %s is not there", want.class, name)
		case f == nil || otherwise[name] != "":
		case !strings.EqualFold(f.GetType().String(), want.kind):
			t.Errorf("%s is a %s, not a %s", name, f.GetType(), want.kind)
		case !strings.Contains(f.GetHelp(), "["+want.class+"]") && want.class != "-":
			t.Errorf("%s is not of the class %s: %s", name, want.class, f.GetHelp())
		default:
			labels, bounds := shape(f)
			if want.labels != "-" && labels != want.labels {
				t.Errorf("%s has the labels %s, not %s", name, labels, want.labels)
			}
			if want.bounds != "-" && bounds != want.bounds {
				t.Errorf("%s has the bounds %s, not %s", name, bounds, want.bounds)
			}
		}
	}
}

// busy does what metrics are made for.
func busy(t *testing.T, api *harness.API) {
	t.Helper()
	const maps = "/api/v1/namespaces/default/configmaps"
	api.Post(maps, json.RawMessage(`{"metadata":{"name":"m"}}`)).Want(201)
	api.Put(maps+"/m", json.RawMessage(`{"metadata":{"name":"m"},"data":{"a":"b"}}`)).Want(200)
	api.Get(maps + "/m").Want(200)
	api.Get(maps).Want(200)
	api.Get("/api/v1/componentstatuses").Want(200) // which is deprecated
	api.Get(maps + "?watch=1&timeoutSeconds=3&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true").Want(200)
	api.Delete(maps + "/m").Want(200)
}

func knownMetrics(t *testing.T) map[string]known {
	t.Helper()
	f, err := os.Open("testdata/metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]known{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) == 5 && words[0] != "#" {
			out[words[0]] = known{words[1], words[2], words[3], words[4]}
		}
	}
	if len(out) < 100 {
		t.Fatalf("%d metrics are known", len(out))
	}
	return out
}

func familiesOf(t *testing.T, api *harness.API) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(prometheus.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(api.Eventually("/metrics", func(r *harness.Reply) bool { return r.Contains("apiserver_storage_size_bytes{") }).Body)))
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// shape are the names of labels and the bounds of buckets, in order.
func shape(f *dto.MetricFamily) (labels, bounds string) {
	names := map[string]bool{}
	var all []string
	for _, m := range f.GetMetric() {
		for _, l := range m.GetLabel() {
			names[l.GetName()] = true
		}
		all = nil
		for _, b := range m.GetHistogram().GetBucket() {
			all = append(all, strconv.FormatFloat(b.GetUpperBound(), 'g', -1, 64))
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), ","), strings.Join(all, ",")
}
