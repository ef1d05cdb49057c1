package e2e

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestTokensOfServiceAccounts asks for a token as kubectl does, and comes in
// with it for as long as the account is there.
func TestTokensOfServiceAccounts_CLI01(t *testing.T) {
	s := harness.Shared(t)
	api, k := s.API(t), s.Kubectl(t)
	ns := namespace(t, api)
	k.Must("create", "serviceaccount", "robot", "-n", ns)
	token := strings.TrimSpace(k.Must("create", "token", "robot", "-n", ns, "--duration", "1h"))
	name := "system:serviceaccount:" + ns + ":robot"
	robot := s.API(t)
	robot.Token = token
	robot.Get("/version").Want(200)
	robot.Post("/apis/authentication.k8s.io/v1/selfsubjectreviews", `{}`).Want(201).Equal("status.userInfo.username", name)
	robot.Post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", object{"spec": object{"resourceAttributes": object{"verb": "list", "resource": "configmaps", "namespace": ns}}}).
		Want(201).Equal("status.allowed", "false")
	api.Post("/apis/authentication.k8s.io/v1/tokenreviews", object{"spec": object{"token": token}}).Want(201).
		Equal("status.authenticated", "true").Equal("status.user.username", name).
		Equal("status.user.groups", `["system:serviceaccounts","system:serviceaccounts:`+ns+`","system:authenticated"]`)
	robot.Get(configMaps(ns)).WantStatus(403, "Forbidden", `User "`+name+`" cannot list resource "configmaps"`)

	accounts := "/api/v1/namespaces/" + ns + "/serviceaccounts"
	api.Post(accounts+"/robot/token", `{"spec":{"expirationSeconds":1}}`).WantStatus(422, "Invalid", "may not specify a duration less than 10 minutes")
	api.Post(accounts+"/nobody/token", `{}`).WantStatus(404, "NotFound", `serviceaccounts "nobody" not found`)
	api.Get(accounts+"/robot/token").WantStatus(405, "MethodNotAllowed")
	api.Delete(accounts + "/robot").Want(200)
	if s.External { // kube-apiserver believes for some seconds what it has believed
		return
	}
	// What is believed of an account is what the cache has.
	robot.Eventually(configMaps(ns), func(r *harness.Reply) bool { return r.Code == 401 }).WantStatus(401, "Unauthorized", "Unauthorized")
}
