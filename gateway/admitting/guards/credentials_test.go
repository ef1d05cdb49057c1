package guards_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
)

// withKubeconfig has a file of the plugin of mutating webhooks.
func withKubeconfig(t *testing.T, users, rest string) *world {
	t.Helper()
	w := newWorld(t, order.MutatingAdmissionWebhook, "WebhookAdmissionConfiguration", "apiserver.config.k8s.io/v1")
	file := filepath.Join(w.dir, "kubeconfig")
	w.write(filepath.Join(w.dir, "plugin.yaml"), "{apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: "+file+"}")
	w.write(file, "{apiVersion: v1, kind: Config, users: ["+users+"]"+rest+"}")
	return w
}

func credentials(t *testing.T, w *world) *guards.Credentials {
	t.Helper()
	all, err := guards.New(t.Context(), w.Config)
	if err != nil {
		t.Fatal(err)
	}
	if all.Credentials(order.ValidatingAdmissionWebhook) != nil {
		t.Error("another plugin shows them, too")
	}
	return all.Credentials(order.MutatingAdmissionWebhook)
}

// sent is what a request carries, "" for nothing.
func sent(c *guards.Credential) (headers string) {
	if c == nil {
		return ""
	}
	request, _ := http.NewRequest(http.MethodPost, "https://a/", nil)
	if _, err := c.Wrap(captures(&headers)).RoundTrip(request); err != nil {
		return err.Error()
	}
	if len(request.Header) > 0 {
		return "the caller's own request was changed"
	}
	return headers
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func captures(into *string) tripper {
	return func(r *http.Request) (*http.Response, error) {
		var all []string
		for _, name := range []string{"Authorization", "Impersonate-User", "Impersonate-Group"} {
			all = append(all, r.Header[name]...)
		}
		*into = strings.Join(all, " ")
		return &http.Response{}, nil
	}
}

// The user that a server is shown is kube-apiserver's choice.
func TestServersAreShownTheUserOfTheirName(t *testing.T) {
	user := func(name string) string { return fmt.Sprintf("{name: %q, user: {token: %q}}, ", name, name) }
	some := user("a.ns.svc:443") + user("a.ns.svc:8443") + user("b.ns.svc") + user("*.ns.svc") + user("*.svc:8443") + user("*.svc") + user("[::1]:443")
	const current = `, contexts: [{name: x, context: {user: usual}}], current-context: x`
	for _, c := range []struct{ users, rest, host, want string }{
		{some, "", "a.ns.svc:443", "a.ns.svc:443"},
		{some, "", "a.ns.svc:8443", "a.ns.svc:8443"},
		{some, "", "b.ns.svc:443", "b.ns.svc"},
		{some, "", "b.ns.svc:8443", "*.svc:8443"},
		{some, "", "c.ns.svc:443", "*.ns.svc"},
		{some, "", "c.other.svc:443", "*.svc"},
		{some, "", "c.other.svc:444", ""},
		{some, "", "svc:443", ""},
		{some, "", "[::1]:443", "[::1]:443"},
		{some + user("*"), "", "c.other.svc:444", "*"},
		{some + user("*") + user("usual"), current, "c.other.svc:444", "*"},
		{some + user("usual"), current, "c.other.svc:444", "usual"},
		{some + user("usual"), current, "", "usual"},
		{some + user("usual"), `, contexts: [{name: x, context: {user: none}}], current-context: x`, "d:444", ""},
	} {
		want := c.want
		if want != "" {
			want = "Bearer " + want
		}
		if got := sent(credentials(t, withKubeconfig(t, c.users, c.rest)).For(c.host)); got != want {
			t.Errorf("%s: %s, want %s", c.host, got, want)
		}
	}
	var none *guards.Credentials
	if none.For("a:443") != nil {
		t.Error("something is shown without a file")
	}
}

func TestWaysToBeKnown(t *testing.T) {
	w := withKubeconfig(t, `{name: basic, user: {username: u, password: p}}, {name: as, user: {token: t, as: eve, as-groups: [g]}}, {name: none, user: {}}, {name: file, user: {token: first, tokenFile: token}}`, "")
	token := filepath.Join(w.dir, "token")
	all := credentials(t, w)
	for name, want := range map[string]string{"basic": "Basic dTpw", "as": "Bearer t eve g", "none": "", "file": "Bearer first"} {
		if got := sent(all.For(name)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	// A file is read again, and what it said last counts while it cannot be.
	w.write(token, " second\n")
	if got := sent(all.For("file")); got != "Bearer second" {
		t.Error(got)
	}
	at := time.Now()
	for _, step := range []struct {
		text  string
		later time.Duration
		want  string
	}{{"third", 0, "second"}, {"third", 2 * time.Second, "third"}, {"", 4 * time.Second, "third"}, {strings.Repeat("x", 1<<20), 6 * time.Second, "third"}, {"fourth", 8 * time.Second, "fourth"}} {
		w.write(token, step.text)
		if got, err := all.For("file").Token(at.Add(step.later)); got != step.want || err != nil {
			t.Errorf("%.9s after %s: %s, %v", step.text, step.later, got, err)
		}
	}
}

func TestKubeconfigsThatCannotBeUsed(t *testing.T) {
	for users, want := range map[string]string{
		`{name: a, user: {exec: {apiVersion: v1, command: c}}}`:                     "users: a: no program or plugin is run to authenticate",
		`{name: a, user: {auth-provider: {name: c}}}`:                               "no program or plugin",
		`{name: a, user: {token: s3cret, username: u}}`:                             "username/password or bearer token may be set, but not both",
		`{name: a, user: {tokenFile: none}}`:                                        "no such file",
		`{name: a, user: {tokenFile: kubeconfig, client-certificate: x}}`:           "no such file",
		`{name: a, user: {client-certificate: kubeconfig, client-key: kubeconfig}}`: "failed to find any PEM data",
		`{name: a, user: {token: [s3cret]}}`:                                        "kubeconfig is no kubeconfig",
	} {
		_, err := guards.New(t.Context(), withKubeconfig(t, users, "").Config)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v, want %s", users, err, want)
		}
	}
	w := withKubeconfig(t, "", "")
	w.write(filepath.Join(w.dir, "kubeconfig"), strings.Repeat("#", 5<<20))
	if _, err := guards.New(t.Context(), w.Config); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(w.dir, "kubeconfig")); err != nil {
		t.Fatal(err)
	}
	if _, err := guards.New(t.Context(), w.Config); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	off := withKubeconfig(t, "", "")
	off.Admits = func(plugin string) bool { return plugin != order.MutatingAdmissionWebhook }
	if _, err := guards.New(t.Context(), off.Config); err == nil || !strings.Contains(err.Error(), "has a kubeConfigFile and is off") {
		t.Error(err)
	}
}
