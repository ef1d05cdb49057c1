package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// judge is a webhook that decides by how the user's name begins.
type judge struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string]int
	left  chan struct{}
}

func newJudge(t *testing.T) *judge {
	t.Helper()
	j := &judge{asked: map[string]int{}, left: make(chan struct{})}
	j.Server = httptest.NewTLSServer(j)
	t.Cleanup(j.Close)
	t.Cleanup(func() { close(j.left) })
	return j
}

// ServeHTTP answers a SubjectAccessReview.
func (j *judge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review harness.Object
	_ = json.NewDecoder(r.Body).Decode(&review)
	j.mu.Lock()
	j.asked[review.Str("spec.user")]++
	j.mu.Unlock()
	status := map[string]any{"allowed": false}
	switch user, _, _ := strings.Cut(review.Str("spec.user"), "-"); user {
	case "allow":
		status = map[string]any{"allowed": true, "reason": "why not"}
	case "deny":
		status = map[string]any{"allowed": false, "denied": true, "reason": "not here"}
	case "both":
		status = map[string]any{"allowed": true, "denied": true, "reason": "torn"}
	case "none":
		status = map[string]any{"allowed": false, "reason": "no idea"}
	case "bad":
		w.WriteHeader(http.StatusBadRequest)
		return
	case "broken":
		w.WriteHeader(http.StatusInternalServerError)
		return
	case "slow":
		select {
		case <-r.Context().Done():
		case <-j.left:
		}
		return
	}
	review["status"] = status
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}

func (j *judge) times(user string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.asked[user]
}

// authorizationConfig asks a webhook about all but those called skipped, and then roles. Of
// the two connections to it only that for who is called slow ends soon: on a busy machine
// any answer may take a second.
func authorizationConfig(t *testing.T, j *judge, policy string) string {
	webhook := func(name, timeout, slow string) string {
		return fmt.Sprintf(`- type: Webhook
  name: %s
  webhook:
    timeout: %s
    authorizedTTL: 5m
    unauthorizedTTL: 5m
    subjectAccessReviewVersion: v1
    matchConditionSubjectAccessReviewVersion: v1
    failurePolicy: %s
    connectionInfo: {type: KubeConfigFile, kubeConfigFile: %q}
    matchConditions:
    - expression: "%srequest.user.startsWith('slow')"
    - expression: "!request.user.startsWith('skipped') && !('system:masters' in request.groups)"
    - expression: "!request.user.startsWith('wrong') || request.resourceAttributes.namespace == request.groups[7]"
`, name, timeout, policy, configFile(t, "judge.kubeconfig", webhookKubeconfig(j.Server)), slow)
	}
	return "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n" +
		webhook("judge.example.com", "30s", "!") + webhook("slow.example.com", "3s", "") + "- {type: RBAC, name: rbac}\n"
}

// mask leaves out what is of one run, in which of its three ways Go's client says that its
// time is up too: that depends on which of two timers is first.
var mask = regexp.MustCompile(`https://127\.0\.0\.1:\d+|/tmp/[^ ":]+|in scheme "[^"]*"|(context deadline exceeded|net/http: request canceled)( \(Client\.Timeout exceeded[^)]*\))?`)

// TestDecisionsOfWebhooks asks whether users may what a webhook decides, and then roles,
// and compares replies and reviews with kube-apiserver's.
func TestDecisionsOfWebhooks_RBAC(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	b := beside(t, "authorization")
	for _, policy := range []string{"NoOpinion", "Deny"} {
		j := newJudge(t)
		args := []string{"--authorization-config", configFile(t, "authz.yaml", authorizationConfig(t, j, policy))}
		s := b.startPlain(args...)
		api := s.API(t)
		for _, user := range []string{"allow", "deny", "none", "bad", "skipped", "wrong"} {
			api.Post("/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", harness.Object{
				"metadata": map[string]any{"name": user}, "roleRef": map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:aggregate-to-view"},
				"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user + "-bound"}},
			}).Want(201)
		}
		for _, user := range []string{"allow", "allow-bound", "deny", "deny-bound", "both", "none", "none-bound", "bad", "bad-bound", "broken", "slow", "skipped", "skipped-bound", "wrong", "wrong-bound"} {
			name := policy + " " + user
			b.same(t, name+": review", mask.ReplaceAllString(api.Post("/apis/authorization.k8s.io/v1/subjectaccessreviews", harness.Object{
				"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
				"spec": map[string]any{"user": user, "groups": []string{"system:authenticated"}, "resourceAttributes": map[string]any{"verb": "list", "resource": "configmaps", "version": "v1", "namespace": "default"}},
			}).Str("status"), "X"))
			if user != "slow" && user != "broken" { // which take seconds, as they are asked again
				b.same(t, name+": list", refusal(api.Do("GET", "/api/v1/namespaces/default/configmaps", nil, "Impersonate-User", user)))
			}
			b.same(t, name+": asked", fmt.Sprint(j.times(user)))
		}
		rules := api.Do("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectRulesReview","spec":{"namespace":"default"}}`)
		b.same(t, policy+" rules", rules.Str("status.incomplete")+" "+rules.Str("status.evaluationError"))
	}
}

// refusal is what a client is told that is refused; of an error that is no Status in
// kube-apiserver its words.
func refusal(r *harness.Reply) string {
	text := string(r.Body)
	if r.Code == http.StatusForbidden {
		text = r.Str("message")
	} else if r.Code == http.StatusInternalServerError && strings.HasPrefix(text, "{") {
		text = strings.TrimPrefix(r.Str("message"), "Internal error occurred: ")
	} else if r.Code == http.StatusInternalServerError {
		_, text, _ = strings.Cut(strings.TrimSpace(text), "\": ")
	} else {
		text = ""
	}
	return mask.ReplaceAllString(fmt.Sprint(r.Code, " ", text), "X")
}

// startPlain is start for who says who is asked.
func (b *besides) startPlain(args ...string) *harness.Server {
	b.t.Helper()
	if *recordPeer {
		return &harness.StartPeer(b.t, args...).Server
	}
	return b.start(args...)
}

// TestAuthorizersAreReplaced changes the file while the gateway runs.
func TestAuthorizersAreReplaced_RBAC(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	j := newJudge(t)
	file := configFile(t, "authz.yaml", "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers: [{type: RBAC, name: rbac}]\n")
	s := &harness.Start(t, harness.Options{Args: []string{"--authorization-config", file}}).Server
	api := s.API(t)
	list := func() int {
		return api.Do("GET", "/api/v1/namespaces/default/configmaps", nil, "Impersonate-User", "allow").Code
	}
	if code := list(); code != 403 {
		t.Errorf("before there is a webhook: %d", code)
	}
	change := func(text, status string) {
		t.Helper()
		before := reloads(t, s, "authorization", status)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		harness.Eventually(t, "a reload: "+status, func() bool { return reloads(t, s, "authorization", status) > before })
	}
	whole := authorizationConfig(t, j, "Deny")
	change(whole, "success")
	if code := list(); code != 200 {
		t.Errorf("with a webhook: %d", code)
	}
	roles := strings.Index(whole, "- {type: RBAC")
	for name, bad := range map[string]string{"no YAML": "{", "without roles": whole[:roles], "a Node": whole + "- {type: Node, name: node}\n"} {
		change(bad, "failure")
		if code := list(); code != 200 {
			t.Errorf("%s: %d", name, code)
		}
	}
	if n := metric(t, api, "apiserver_authorization_decisions_total", `type="Webhook"`, `decision="allowed"`); n < 1 {
		t.Errorf("%v decisions of the webhook are counted", n)
	}
}

// TestModeWebhook asks a webhook that flags name.
func TestModeWebhook_RBAC(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	j := newJudge(t)
	s := harness.Start(t, harness.Options{Args: []string{"--authorization-mode=RBAC,Webhook", "--authorization-webhook-config-file", configFile(t, "kubeconfig", webhookKubeconfig(j.Server)), "--authorization-webhook-version=v1"}})
	api := s.API(t)
	for user, want := range map[string]int{"allow": 200, "deny": 403, "none": 403, "bad": 500} {
		if r := api.Do("GET", "/api/v1/namespaces/default/configmaps", nil, "Impersonate-User", user); r.Code != want {
			t.Errorf("%s: %d", user, r.Code)
		}
	}
}
