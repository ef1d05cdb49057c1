package structured

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// reviewer is a server that is asked by a kubeconfig, and says of each path what decides.
type reviewer struct {
	kubeconfig string
	mu         sync.Mutex
	asked      []authorizationv1.SubjectAccessReviewSpec
}

func newReviewer(t *testing.T) *reviewer {
	t.Helper()
	r := &reviewer{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		var review authorizationv1.SubjectAccessReview
		if err := json.NewDecoder(q.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		r.asked = append(r.asked, review.Spec)
		r.mu.Unlock()
		if a := review.Spec.NonResourceAttributes; a != nil {
			review.Status.Allowed, review.Status.Denied = a.Path == "/allow", a.Path == "/deny"
		}
		review.Status.Reason = "the server says so"
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	r.kubeconfig = write(t, `{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":"`+s.URL+`"}}],"contexts":[{"name":"c","context":{"cluster":"c"}}],"current-context":"c"}`)
	return r
}

func (r *reviewer) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.asked)
}

// some allows a verb, and has rules and an error of its own.
type some struct {
	verb string
	err  error
}

func (s some) Authorize(_ context.Context, a authz.Attributes) (bool, string, error) {
	return a.Verb == s.verb, "of " + s.verb, s.err
}

func (s some) Rules(*authn.User, string) ([]rbacv1.PolicyRule, error) {
	return []rbacv1.PolicyRule{{Verbs: []string{s.verb}}}, s.err
}

func asksFor(verb, path string) authz.Attributes {
	return authz.Attributes{User: &authn.User{Name: "u", Groups: []string{"g"}}, Verb: verb, Path: path}
}

func counted(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// decisions is what kube-apiserver's metrics count of these labels.
func decisions(t *testing.T, labels ...string) (n float64) {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			has := map[string]bool{f.GetName(): true}
			for _, l := range m.GetLabel() {
				has[l.GetValue()] = true
			}
			if !slices.ContainsFunc(labels, func(l string) bool { return !has[l] }) {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return n
}

// Who is asked first and allows or denies decides; who does not leaves reasons and errors.
func TestChainOfFlags(t *testing.T) {
	r := newReviewer(t)
	broken := errors.New("it is broken")
	c, err := New(Config{First: some{verb: "first"}, Known: map[string]authz.Decider{"RBAC": some{"second", broken}},
		Flags: Modes([]string{"RBAC", "Webhook"}, Webhook{Path: r.kubeconfig, Version: "v1", AuthorizedTTL: time.Hour})})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		verb, path string
		want       authz.Decision
		reason     string
		err, asked bool
	}{
		{"first", "/deny", authz.Allow, "of first", false, false},
		{"second", "/deny", authz.Allow, "of second", true, false},
		{"get", "/deny", authz.Deny, "the server says so", false, true},
		{"get", "/allow", authz.Allow, "the server says so", false, true},
		{"get", "/allow", authz.Allow, "the server says so", false, false}, // remembered
		{"get", "/else", authz.NoOpinion, "of first\nof second\nthe server says so", true, true},
		{"get", "/else", authz.NoOpinion, "of first\nof second\nthe server says so", true, true}, // no, without a time
	} {
		allows, denies := decisions(t, "allowed", "default"), decisions(t, "denied", "default")
		before := r.count()
		got, reason, err := c.Judge(t.Context(), asksFor(one.verb, one.path))
		if got != one.want || reason != one.reason || (err != nil) != one.err || (r.count() > before) != one.asked {
			t.Errorf("%s %s: %v, %q, %v, asked %d", one.verb, one.path, got, reason, err, r.count()-before)
		}
		if allowed, denied := decisions(t, "allowed", "default")-allows, decisions(t, "denied", "default")-denies; allowed != counted(one.path == "/allow") || denied != counted(got == authz.Deny) {
			t.Errorf("%s %s: %v more are counted as allowed, %v as denied", one.verb, one.path, allowed, denied)
		}
		allowed, reason, err := c.Authorize(t.Context(), asksFor(one.verb, one.path))
		if allowed != (one.want == authz.Allow) || reason != one.reason || (err != nil) != (one.err && !allowed) {
			t.Errorf("%s %s is allowed %t, %q, %v", one.verb, one.path, allowed, reason, err)
		}
	}
	rules, err := c.Rules(nil, "")
	if len(rules) != 2 || !errors.Is(err, broken) || !errors.Is(err, authz.ErrIncomplete) || !strings.Contains(err.Error(), "webhook authorizer does not support user rule resolution") {
		t.Errorf("%v, %v", rules, err)
	}
}

// A webhook is sent all that is known of a request, with its selectors; of nobody too.
func TestWhatWebhooksAreAsked(t *testing.T) {
	r := newReviewer(t)
	c, err := New(Config{First: nobody{}, Flags: Modes([]string{"Webhook"}, Webhook{Path: r.kubeconfig, Version: "v1"})})
	if err != nil {
		t.Fatal(err)
	}
	selectors := fields.Requirements{{Field: "spec.nodeName", Operator: selection.Equals, Value: "n"}}
	if _, _, err := c.Judge(t.Context(), authz.Attributes{User: &authn.User{Name: "u", UID: "i", Groups: []string{"g"}}, Verb: "list", Namespace: "ns", Group: "apps", Version: "v1", Resource: "deployments", Subresource: "scale", Name: "d",
		ResourceRequest: true, Selectors: authz.Selectors{Fields: selectors}}); err != nil {
		t.Error(err)
	}
	if _, _, err := c.Judge(t.Context(), authz.Attributes{Verb: "get", Path: "/x"}); err != nil {
		t.Error(err)
	}
	all, err := json.Marshal(r.asked)
	want := `[{"resourceAttributes":{"namespace":"ns","verb":"list","group":"apps","version":"v1","resource":"deployments","subresource":"scale","name":"d","fieldSelector":{"requirements":[{"key":"spec.nodeName","operator":"In","values":["n"]}]}},"user":"u","groups":["g"],"uid":"i"},{"nonResourceAttributes":{"path":"/x","verb":"get"}}]`
	if err != nil || string(all) != want {
		t.Errorf("%s\nwant\n%s", all, want)
	}
}

// A webhook is told by which selectors a request is narrowed, but for those that cannot be
// read; its conditions see them, too.
func TestWebhooksAreToldOfSelectors(t *testing.T) {
	r := newReviewer(t)
	text := strings.Replace(byWebhook(r.kubeconfig), "request.user != 'free'", "!has(request.resourceAttributes.fieldSelector) || request.resourceAttributes.fieldSelector.requirements[0].values[0] != 'free'", 1)
	c, err := New(Config{Path: write(t, configuration(text)), First: nobody{}})
	if err != nil {
		t.Fatal(err)
	}
	const field, label = `"fieldSelector":{"requirements":[{"key":"spec.nodeName","operator":"In","values":["n"]}]}`, `"labelSelector":{"requirements":[{"key":"a","operator":"In","values":["b"]}]}`
	for _, one := range []struct{ verb, fields, labels, want string }{
		{"list", "spec.nodeName=n", "a in (b)", "," + field + "," + label},
		{"watch", "spec.nodeName=n", "=", "," + field},
		{"deletecollection", "spec.nodeName", "a in (b)", "," + label},
		{"list", "spec.nodeName=free", "", ""},
	} {
		before := r.count()
		if _, _, err := c.Judge(t.Context(), authz.Attributes{User: &authn.User{Name: "u"}, Verb: one.verb, Version: "v1", Resource: "pods", ResourceRequest: true,
			Unread: authz.UnreadSelectors{Fields: one.fields, Labels: one.labels}}); err != nil {
			t.Error(err)
		}
		asked := r.asked[before:]
		if one.want == "" {
			if len(asked) != 0 {
				t.Errorf("%s: asked %+v", one.fields, asked)
			}
			continue
		}
		all, err := json.Marshal(asked)
		if want := `[{"resourceAttributes":{"verb":"` + one.verb + `","version":"v1","resource":"pods"` + one.want + `},"user":"u"}]`; err != nil || string(all) != want {
			t.Errorf("%s\nwant\n%s", all, want)
		}
	}
}

// configuration is one of a file, of authorizers as JSON.
func configuration(authorizers ...string) string {
	return `{"apiVersion":"apiserver.config.k8s.io/v1","kind":"AuthorizationConfiguration","authorizers":[` + strings.Join(authorizers, ",") + `]}`
}

const byRBAC = `{"type":"RBAC","name":"rbac"}`

func byWebhook(kubeconfig string) string {
	return fmt.Sprintf(`{"type":"Webhook","name":"w","webhook":{"timeout":"5s","authorizedTTL":"1h","cacheAuthorizedRequests":false,"unauthorizedTTL":"1h","cacheUnauthorizedRequests":true,"subjectAccessReviewVersion":"v1",
		"matchConditionSubjectAccessReviewVersion":"v1","failurePolicy":"Deny","connectionInfo":{"type":"KubeConfigFile","kubeConfigFile":%q},"matchConditions":[{"expression":"request.user != 'free'"}]}}`, kubeconfig)
}

// A file says whose answers are remembered, and of whom a webhook is not asked.
func TestFileOfAWebhook(t *testing.T) {
	r := newReviewer(t)
	c, err := New(Config{Path: write(t, configuration(byWebhook(r.kubeconfig))), First: nobody{}})
	if err != nil {
		t.Fatal(err)
	}
	for i, one := range []struct {
		user, path string
		want       authz.Decision
		asked      int
	}{
		{"u", "/allow", authz.Allow, 1}, {"u", "/allow", authz.Allow, 2}, {"u", "/deny", authz.Deny, 3}, {"u", "/deny", authz.Deny, 3}, {"free", "/deny", authz.NoOpinion, 3},
	} {
		at := asksFor("get", one.path)
		at.User = &authn.User{Name: one.user}
		if got, _, err := c.Judge(t.Context(), at); got != one.want || err != nil || r.count() != one.asked {
			t.Errorf("%d: %v, %v, asked %d", i, got, err, r.count())
		}
	}
	if c, err = New(Config{First: nobody{}, Flags: Modes([]string{"Webhook"}, Webhook{Path: r.kubeconfig, Version: "v1", UnauthorizedTTL: time.Hour})}); err != nil {
		t.Fatal(err)
	}
	before := r.count()
	for _, path := range []string{"/deny", "/deny", "/allow", "/allow"} {
		if _, _, err := c.Judge(t.Context(), asksFor("get", path)); err != nil {
			t.Error(err)
		}
	}
	if n := r.count() - before; n != 3 {
		t.Errorf("the flags have it asked %d times", n)
	}
}

// A file that cannot be used stops the start.
func TestFilesThatStopTheStart(t *testing.T) {
	kubeconfig := newReviewer(t).kubeconfig
	for text, want := range map[string]string{
		configuration(byWebhook(kubeconfig), `{"type":"RBAC","name":"other"}`): "expected name rbac for authorizer RBAC instead of other",
		"{": "failed to load AuthorizationConfiguration from file",
		"":  "at least one authorization mode must be defined",
		configuration(`{"type":"Node","name":"node"}`):                         `Unsupported value: "Node"`,
		configuration(`{"type":"RBAC","name":"mine"}`):                         "expected name rbac for authorizer RBAC instead of mine",
		configuration(byWebhook("/none/there")):                                "connectionInfo.kubeConfigFile: Invalid value",
		configuration(byWebhook(write(t, `{"apiVersion":"v1","kind":"Odd"}`))): "authorizer w: ",
	} {
		if _, err := New(Config{Path: write(t, text), First: nobody{}, Known: map[string]authz.Decider{"RBAC": nobody{}}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := New(Config{Path: "/none/there", First: nobody{}}); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "--authorization-config: ") {
		t.Error(err)
	}
}

// A changed file is in force if it is good and keeps the types that the first one has.
func TestFileThatChanges(t *testing.T) {
	path := write(t, configuration(byRBAC))
	kubeconfig := newReviewer(t).kubeconfig
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Config{Path: path, First: some{verb: "first"}, Known: map[string]authz.Decider{"RBAC": some{verb: "second"}, "AlwaysAllow": some{verb: "third"}}, Gateway: "one"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var told []string
		go c.Run(ctx, func(err error) { told = append(told, fmt.Sprint(err)) })
		may := func(verb string) bool {
			allowed, _, _ := c.Authorize(ctx, asksFor(verb, "/x"))
			return allowed
		}
		if !may("first") || !may("second") || may("third") {
			t.Error("the first file is not in force")
		}
		for _, step := range []struct {
			text, want string
			third      bool
		}{
			{configuration(byRBAC, `{"type":"AlwaysAllow","name":"alwaysallow"}`), "<nil>", true},
			{configuration(`{"type":"AlwaysAllow","name":"alwaysallow"}`), "missing required types: [RBAC]", true},
			{configuration(byRBAC, byWebhook(kubeconfig+"-gone")), "kubeConfigFile", true},
			{"{", "failed to load", true},
			{configuration(byRBAC), "<nil>", false},
		} {
			if err := os.WriteFile(path, []byte(step.text), 0o600); err != nil {
				t.Fatal(err)
			}
			told = nil
			const reloads = "apiserver_authorization_config_controller_automatic_reloads_total"
			good, bad := decisions(t, reloads, "success"), decisions(t, reloads, "failure")
			<-time.After(5 * time.Minute)
			synctest.Wait()
			if len(told) != 1 || !strings.Contains(told[0], step.want) || !may("second") || may("third") != step.third {
				t.Errorf("%s: %q, third %t", step.text, told, may("third"))
			}
			if good, bad = decisions(t, reloads, "success")-good, decisions(t, reloads, "failure")-bad; good != counted(step.want == "<nil>") || bad != 1-good {
				t.Errorf("%s: counted as used %v times, as not %v times", step.text, good, bad)
			}
		}
		cancel()
	})
	none, err := New(Config{First: nobody{}, Flags: Modes(nil, Webhook{})})
	if err != nil {
		t.Fatal(err)
	}
	none.Run(t.Context(), func(err error) { t.Error(err) }) // without a file it is over at once
}
