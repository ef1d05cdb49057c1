package accounting

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// lines are the lines of the metrics that begin with name, but zeros.
func lines(t *testing.T, m *metrics.Metrics, name string) (out []string) {
	t.Helper()
	body, err := m.Render()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(body)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, name) && !strings.HasSuffix(line, " 0") {
			out = append(out, line)
		}
	}
	return out
}

func TestScopes(t *testing.T) {
	for want, infos := range map[string][]api.Info{
		"":          {{Verb: "get", Path: "/healthz"}, {Verb: "create"}},
		"resource":  {{Verb: "get", Plural: "p", Name: "n", Namespace: "x"}, {Verb: "create", Plural: "p", Namespace: "x"}, {Verb: "get", Plural: "p", Name: "n"}},
		"namespace": {{Verb: "list", Plural: "p", Namespace: "x"}},
		"cluster":   {{Verb: "list", Plural: "p"}, {Verb: "deletecollection", Plural: "p"}},
	} {
		for _, i := range infos {
			if got := scope(&i); got != want {
				t.Errorf("%+v: %q, want %q", i, got, want)
			}
		}
	}
}

func TestRequestsAreCounted(t *testing.T) {
	for verb, mutates := range map[string]bool{
		"get": false, "list": false, "head": false, "create": true, "update": true, "patch": true, "delete": true, "deletecollection": true,
	} {
		m := metrics.New()
		end := New(m).Begin(&api.Info{Verb: verb, Version: "v1", Plural: "configmaps", Namespace: "x", Name: "n"}, false)
		kind := `request_kind="readOnly"`
		if mutates {
			kind = `request_kind="mutating"`
		}
		if got := lines(t, m, "apiserver_current_inflight_requests{"); len(got) != 1 || !strings.Contains(got[0], kind) || !strings.HasSuffix(got[0], " 1") {
			t.Errorf("%s under way: %q", verb, got)
		}
		end(api.Outcome{Code: 409})
		if got := lines(t, m, "apiserver_current_inflight_requests{"); len(got) != 0 {
			t.Errorf("%s ended: %q", verb, got)
		}
		got := lines(t, m, "apiserver_request_total{")
		if len(got) != 1 || !strings.Contains(got[0], `code="409"`) || strings.Contains(got[0], `dry_run="All"`) || !strings.HasSuffix(got[0], " 1") {
			t.Errorf("%s: %q", verb, got)
		}
	}
}

func TestDryRunsAndWatchesAreCounted(t *testing.T) {
	m := metrics.New()
	New(m).Begin(&api.Info{Verb: "create", Version: "v1", Plural: "configmaps"}, true)(api.Outcome{Code: 201})
	if got := lines(t, m, "apiserver_request_total{"); len(got) != 1 || !strings.Contains(got[0], `dry_run="All"`) {
		t.Errorf("a dry run: %q", got)
	}
	m = metrics.New()
	end := New(m).Begin(&api.Info{Verb: "watch", Version: "v1", Plural: "configmaps"}, false)
	if got := lines(t, m, "apiserver_longrunning_requests{"); len(got) != 1 || !strings.HasSuffix(got[0], " 1") {
		t.Errorf("a watch: %q", got)
	}
	if got := lines(t, m, "apiserver_current_inflight_requests{"); len(got) != 0 {
		t.Errorf("a watch is in flight: %q", got)
	}
	end(api.Outcome{Code: 200})
	if got := lines(t, m, "apiserver_longrunning_requests{"); len(got) != 0 {
		t.Errorf("a watch that ended: %q", got)
	}
}
