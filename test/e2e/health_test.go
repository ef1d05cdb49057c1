package e2e

import (
	"strings"
	"syscall"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

func TestHealth(t *testing.T) {
	s := harness.Shared(t)
	anonymous := s.API(t)
	anonymous.Token = "-"
	endpoints := []string{"livez", "readyz", "healthz"}

	t.Run("HLT-01 three endpoints, without a token", func(t *testing.T) {
		for _, e := range endpoints {
			r := anonymous.Get("/" + e).Want(200)
			if string(r.Body) != "ok" {
				t.Errorf("/%s: %q", e, r.Body)
			}
		}
	})
	t.Run("HLT-02 verbose", func(t *testing.T) {
		for _, e := range endpoints {
			lines := strings.Split(strings.TrimSpace(string(anonymous.Get("/"+e+"?verbose").Want(200).Body)), "\n")
			last := len(lines) - 1
			if lines[last] != e+" check passed" {
				t.Errorf("/%s ends %q", e, lines[last])
			}
			for _, l := range lines[:last] {
				if !strings.HasPrefix(l, "[+]") || !strings.HasSuffix(l, " ok") {
					t.Errorf("/%s: line %q", e, l)
				}
			}
			for _, check := range []string{"[+]ping ok", "[+]etcd ok"} {
				if !strings.Contains(strings.Join(lines, "\n"), check) {
					t.Errorf("/%s lacks %q: %q", e, check, lines)
				}
			}
		}
	})
	t.Run("HLT-02 checks are counted", func(t *testing.T) {
		anonymous.Get("/metrics/slis").Want(403)
		if r := s.API(t).Get("/metrics/slis").Want(200); !r.Contains(`kubernetes_healthcheck{name="etcd",type="readyz"} 1`) || !r.Contains(`kubernetes_healthchecks_total{name="ping",status="success",type="livez"} `) {
			t.Errorf("%s", r.Body)
		}
	})
	t.Run("HLT-03 exclude", func(t *testing.T) {
		r := anonymous.Get("/readyz?verbose&exclude=etcd&exclude=ping").Want(200)
		for _, want := range []string{"[+]etcd excluded: ok", "[+]ping excluded: ok"} {
			if !r.Contains(want) {
				t.Errorf("lacks %q: %s", want, r.Body)
			}
		}
		if r := anonymous.Get("/livez?exclude=etcd").Want(200); string(r.Body) != "ok" {
			t.Errorf("%q", r.Body)
		}
	})
	t.Run("HLT-04 single checks", func(t *testing.T) {
		for _, e := range endpoints {
			if r := s.API(t).Get("/" + e + "/etcd").Want(200); string(r.Body) != "ok" {
				t.Errorf("/%s/etcd: %q", e, r.Body)
			}
			s.API(t).Get("/" + e + "/nothing").Want(404)
		}
	})
	t.Run("HLT-01 everything else wants an identity", func(t *testing.T) {
		anonymous.Get("/version").Want(200)
		anonymous.Token = "wrong"
		anonymous.Get(namespacePath).WantStatus(401, "Unauthorized", "Unauthorized")
	})
}

// TestShutdown needs a process to end.
func TestShutdown(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	t.Run("HLT-05 readiness fails first, watches end, writes are kept", func(t *testing.T) {
		g := harness.Start(t, harness.Options{Args: []string{"--shutdown-delay-duration=10s"}})
		c := newCronTabs(t, &g.Server, nil)
		w := c.watch("")
		g.Signal(t, syscall.SIGTERM)
		c.api.Eventually("/readyz", func(r *harness.Reply) bool { return r.Code == 500 })
		c.api.Get("/livez").Want(200)
		made := c.create("late")
		if r := c.api.Get("/readyz?verbose").Want(500); !r.Contains("[-]shutdown failed") {
			t.Errorf("verbose: %s", r.Body)
		}
		w.Expect("ADDED", "late")
		for _, e := range w.End() {
			t.Errorf("event %s", e)
		}
		g.AwaitEnd(t)
		g.Restart(t)
		c.awaitServed("v1")
		c.api.Get(c.path("v1", "late")).Want(200).Equal("metadata.resourceVersion", made.RV())
	})
}
