package componentstatus

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func text(t *testing.T, v any) string {
	b, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// serves tells of a component by a code and a text.
func serves(t *testing.T, code int, header, said string) string {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("a component is told who somebody is")
		}
		if header != "" {
			w.Header().Set("Location", header)
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(said))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/healthz"
}

func TestComponentsAreAskedHowTheyAre(t *testing.T) {
	gone := httptest.NewTLSServer(nil)
	gone.Close()
	elsewhere := serves(t, 200, "", "it was followed")
	for _, tc := range []struct {
		url, want string
	}{
		{serves(t, 200, "", "ok"), "{message: ok, status: 'True', type: Healthy}"},
		{serves(t, 503, "", "secret"), "{message: 'HTTP probe failed with statuscode: 503', status: 'False', type: Healthy}"},
		{serves(t, 302, elsewhere, "there"), "{message: 'it answers from elsewhere: there', status: Unknown, type: Healthy}"},
		{serves(t, 200, "", "a\xffb"), "{message: \"a\uFFFDb\", status: 'True', type: Healthy}"},
		{serves(t, 200, "", strings.Repeat("x", maxAnswer+1)), "{message: " + strings.Repeat("x", maxAnswer) + ", status: 'True', type: Healthy}"},
		{gone.URL + "/healthz", "{message: 'Get \"" + gone.URL + "/healthz\": dial tcp " + strings.TrimPrefix(gone.URL, "https://") + ": connect: connection refused', status: 'False', type: Healthy}"},
	} {
		well := func(context.Context) error { return nil }
		got := New(well, tc.url, gone.URL).Report(t.Context(), "scheduler")
		want := "{apiVersion: v1, kind: ComponentStatus, metadata: {name: scheduler}, conditions: [" + tc.want + "]}"
		var tree any
		if err := yaml.Unmarshal([]byte(want), &tree); err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || text(t, got[0]) != text(t, tree) {
			t.Errorf("got %.300s\nwant %.300s", text(t, got), text(t, tree))
		}
	}
}

func TestStoreIsReported(t *testing.T) {
	var broken error
	c := New(func(context.Context) error { return broken }, "https://127.0.0.1:0", "https://127.0.0.1:0")
	names := ""
	for _, o := range c.Report(t.Context(), "") {
		names += nameOf(o) + " "
	}
	if names != "controller-manager etcd-0 scheduler " {
		t.Errorf("there are %s", names)
	}
	if got := text(t, c.Report(t.Context(), "etcd-0")[0]["conditions"]); got != "- message: ok\n  status: \"True\"\n  type: Healthy\n" {
		t.Errorf("a store that is well: %s", got)
	}
	broken = errors.New("no leader")
	if got := text(t, c.Report(t.Context(), "etcd-0")[0]["conditions"]); got != "- error: no leader\n  status: \"False\"\n  type: Healthy\n" {
		t.Errorf("a broken store: %s", got)
	}
	if got := c.Report(t.Context(), "etcd-1"); len(got) != 0 {
		t.Errorf("there is %v", got)
	}
}
