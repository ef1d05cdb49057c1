package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
	"github.com/wasmgate/wasmgate/test/story/escalation"
)

// TestTableOfEscalation has users write roles and bindings that grant what they have,
// and what they do not, and compares each reply with kube-apiserver's.
func TestTableOfEscalation(t *testing.T) {
	tellAll(t, escalation.Stories(), escalation.Table)
}

// TestPoliciesReadNoSecretsForTheirAuthors has somebody write policies and bindings who may
// write nothing else: no policy tells them what a Secret says.
func TestPoliciesReadNoSecretsForTheirAuthors(t *testing.T) {
	g := harness.Start(t, harness.Options{Args: []string{"--controllers="}})
	api, name := g.API(t), "policy-author"
	const group = "/apis/admissionregistration.k8s.io/v1/"
	api.Post("/apis/rbac.authorization.k8s.io/v1/clusterroles", json.RawMessage(`{"metadata":{"name":"policy-author"},"rules":[{"apiGroups":["admissionregistration.k8s.io"],"resources":["*"],"verbs":["*"]}]}`)).Want(201)
	api.Post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", json.RawMessage(`{"metadata":{"name":"policy-author"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"policy-author"}],"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"policy-author"}}`)).Want(201)
	const policy = `{"metadata":{"name":"tells"},"spec":{"paramKind":{"apiVersion":"v1","kind":"Secret"},"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]},"validations":[{"expression":"false","messageExpression":"string(params.data.word)"}]}}`
	const binding = `{"metadata":{"name":"tells"},"spec":{"policyName":"tells","paramRef":{"name":"s","namespace":"default","parameterNotFoundAction":"Deny"},"validationActions":["Deny"]}}`
	as := func(path, body string) *harness.Reply {
		return api.Do("POST", group+path, json.RawMessage(body), "Impersonate-User", name)
	}
	as("validatingadmissionpolicies", policy).WantStatus(422, "Invalid", `must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)`)
	as("validatingadmissionpolicybindings", binding).WantStatus(422, "Invalid", "unable to get policy tells to determine minimum required permissions")
	as("validatingadmissionpolicies", strings.Replace(policy, `"paramKind":{"apiVersion":"v1","kind":"Secret"},`, "", 1)).WantStatus(422, "Invalid", "params") // which needs a kind
	api.Post(group+"validatingadmissionpolicies", json.RawMessage(policy)).Want(201)
	as("validatingadmissionpolicybindings", binding).WantStatus(422, "Invalid", `does not have "get" permission on the object referenced by paramRef`)
	api.Post(group+"validatingadmissionpolicybindings?dryRun=All", json.RawMessage(binding)).Want(201)
}
