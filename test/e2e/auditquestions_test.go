package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/wire"
	"github.com/wasmgate/wasmgate/test/harness"
)

// TestQuestionsInProtobufAreAudited has tokens, evictions and bindings asked for in
// protobuf, whose events have the same bodies as those of JSON.
func TestQuestionsInProtobufAreAudited(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	dir := t.TempDir()
	policy, log := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "audit.log")
	rules := "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n- {level: Request, verbs: [create]}\n"
	if err := os.WriteFile(policy, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	api := harness.Start(t, harness.Options{Args: []string{"--audit-policy-file", policy, "--audit-log-path", log, "--audit-log-mode", "blocking"}}).API(t)
	api.Post("/api/v1/namespaces/default/pods", object{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p"},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}}}).Want(201)

	api.Post("/api/v1/namespaces/default/serviceaccounts", object{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": "a"}}).Want(201)

	seconds := int64(600)
	for path, body := range map[string]message{
		"/api/v1/namespaces/default/serviceaccounts/a/token": {authenticationv1.SchemeGroupVersion.WithKind("TokenRequest"),
			&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"me"}, ExpirationSeconds: &seconds}}},
		"/api/v1/namespaces/default/pods/p/binding": {corev1.SchemeGroupVersion.WithKind("Binding"),
			&corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}},
		"/api/v1/namespaces/default/pods/p/eviction": {policyv1.SchemeGroupVersion.WithKind("Eviction"),
			&policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p"}, DeleteOptions: &metav1.DeleteOptions{DryRun: []string{"All"}}}},
	} {
		api.Post(path+"?dryRun=All", body.bytes(t), "Content-Type", wire.MediaType).Want(201)
		inProtobuf := lastSent(t, log, path)
		api.Post(path+"?dryRun=All", body.json(t)).Want(201)
		if inJSON := lastSent(t, log, path); inProtobuf != inJSON || !strings.Contains(inProtobuf, `"kind":"`+body.kind.Kind+`"`) {
			t.Errorf("%s:\nin protobuf %s\nin JSON     %s", path, inProtobuf, inJSON)
		}
	}
}

// message is an object that has a form in protobuf.
type message struct {
	kind   schema.GroupVersionKind
	object interface {
		Marshal() ([]byte, error)
	}
}

func (m message) bytes(t *testing.T) []byte {
	t.Helper()
	raw, err := m.object.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	apiVersion, kind := m.kind.ToAPIVersionAndKind()
	return wire.AppendEnvelope(nil, apiVersion, kind, raw)
}

func (m message) json(t *testing.T) object {
	t.Helper()
	data, err := json.Marshal(m.object)
	if err != nil {
		t.Fatal(err)
	}
	o := object{}
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}
	o["apiVersion"], o["kind"] = m.kind.ToAPIVersionAndKind()
	return o
}

// lastSent is the body that the last event of a path has, with its fields in order.
func lastSent(t *testing.T, log, path string) string {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for line := range strings.Lines(string(text)) {
		var e struct {
			RequestURI    string
			RequestObject any
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(e.RequestURI, path+"?") {
			body, err := json.Marshal(e.RequestObject)
			if err != nil {
				t.Fatal(err)
			}
			last = string(body)
		}
	}
	return last
}
