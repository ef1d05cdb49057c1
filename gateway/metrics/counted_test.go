package metrics

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// lines are those of a metric as it is rendered.
func lines(t *testing.T, m *Metrics, name string) (out []string) {
	t.Helper()
	for line := range strings.Lines(render(t, m)) {
		if strings.HasPrefix(line, name) {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// Whether an APIService is available is shown as long as there is one, and how often it was
// lost is counted.
func TestServersBehindThisOneAreShown(t *testing.T) {
	m := New()
	m.Aggregator.Available("v1.a", true)
	m.Aggregator.Available("v1.b", true)
	m.Aggregator.Available("v1.b", false)
	m.Aggregator.Lost("v1.b", "FailedDiscoveryCheck")
	want := []string{`aggregator_unavailable_apiservice_total{name="v1.b",reason="FailedDiscoveryCheck"} 1`, `aggregator_unavailable_apiservice{name="v1.a"} 0`, `aggregator_unavailable_apiservice{name="v1.b"} 1`}
	got := lines(t, m, "aggregator_unavailable_apiservice")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	m.Aggregator.Gone("v1.b")
	if got := lines(t, m, "aggregator_unavailable_apiservice"); !slices.Equal(got, []string{`aggregator_unavailable_apiservice{name="v1.a"} 0`}) {
		t.Errorf("once it is gone: %q", got)
	}
}

// Each use of a token is counted by what it is; without metrics nothing is.
func TestUsesOfTokensAreCounted(t *testing.T) {
	m := New()
	for use := range tokenUses {
		for range use + 1 {
			m.Tokens.Used(use)
		}
	}
	m.Tokens.Unrecorded(true)
	m.Tokens.Unrecorded(true)
	m.Tokens.Unrecorded(false)
	for i, name := range []string{"legacy_tokens", "legacy_manual_token_uses", "legacy_auto_token_uses", "invalid_legacy_auto_token_uses", "stale_tokens", "valid_tokens"} {
		if got := lines(t, m, "serviceaccount_"+name+"_total"); !slices.Equal(got, []string{fmt.Sprintf("serviceaccount_%s_total %d", name, i+1)}) {
			t.Errorf("%q", got)
		}
	}
	if got := lines(t, m, "wasmgate_legacy_token_uses_unrecorded_total"); len(got) != 2 || !strings.HasSuffix(got[0], `{reason="queue-full"} 2`) || !strings.HasSuffix(got[1], `{reason="write-failed"} 1`) {
		t.Errorf("%q", got)
	}
	var none *Tokens
	none.Used(ValidToken)
	none.Unrecorded(true)
}

// Of what libraries count, those families are shown that begin like a name, once.
func TestFamiliesOfLibraries(t *testing.T) {
	if got, err := library(nil).Gather(); len(got) > 0 || err != nil {
		t.Errorf("none are asked for: %d, %v", len(got), err)
	}
	all, err := library{""}.Gather()
	if err != nil || len(all) < 2 {
		t.Fatalf("%d, %v", len(all), err)
	}
	first := all[0].GetName()
	got, err := library{first, first, "none"}.Gather()
	if err != nil || len(got) == 0 || got[0].GetName() != first || len(got) == len(all) {
		t.Errorf("%d of %d, %v", len(got), len(all), err)
	}
	names := map[string]bool{}
	for _, f := range got {
		if names[f.GetName()] || !strings.HasPrefix(f.GetName(), first) {
			t.Errorf("%s is there, once more or at all", f.GetName())
		}
		names[f.GetName()] = true
	}
}

// Statuses that make up nearly all replies have slots of their own.
func TestSlotsOfStatuses(t *testing.T) {
	known := map[int]bool{}
	for _, code := range []int{200, 201, 400, 401, 403, 404, 409, 410, 422, 500} {
		n := slot(code)
		if n < 0 || n >= slots || known[n] {
			t.Errorf("%d has slot %d", code, n)
		}
		known[n] = true
	}
	if n := slot(418); n != -1 {
		t.Errorf("another status has slot %d", n)
	}
}
