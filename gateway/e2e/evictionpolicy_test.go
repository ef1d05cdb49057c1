package e2e

import (
	"testing"

	"github.com/wasmgate/wasmgate/gateway/gatewaytest"
)

// A policy about evictions holds for who evicts, though what an eviction does is
// the gateway's to do.
func TestPoliciesAreAskedAboutEvictions_CEL14(t *testing.T) {
	api := gatewaytest.Shared(t).API(t)
	ns := namespace(t, api)
	pods := "/api/v1/namespaces/" + ns + "/pods"
	api.Post(pods, parse(t, `{"metadata":{"name":"p","labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`)).Want(201)
	name := "evictions-" + unique()
	for plural, text := range map[string]string{
		"validatingadmissionpolicies": `{"metadata":{"name":"` + name + `"},"spec":{
			"matchConstraints":{"resourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods/eviction"]}],
				"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"` + ns + `"}}},
			"validations":[{"expression":"object.kind != 'Eviction'","messageExpression":"object.metadata.name + ' stays'"}]}}`,
		"validatingadmissionpolicybindings": `{"metadata":{"name":"` + name + `"},"spec":{"policyName":"` + name + `","validationActions":["Deny"]}}`,
	} {
		api.Post(hooksPath+plural, parse(t, text)).Want(201)
		t.Cleanup(func() { _, _ = api.Try("DELETE", hooksPath+plural+"/"+name, nil) })
	}
	eviction := parse(t, `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}}`)
	gatewaytest.Eventually(t, "the policy", func() bool {
		r, err := api.Try("POST", pods+"/p/eviction?dryRun=All", eviction)
		return err == nil && r.Code == 422
	})
	api.Post(pods+"/p/eviction", eviction).WantStatus(422, "Invalid", "p stays")
	api.Get(pods + "/p").Want(200)
}
