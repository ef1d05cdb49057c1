package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
	"github.com/wasmgate/wasmgate/test/story"
	"github.com/wasmgate/wasmgate/test/story/accounts"
)

// TestTableOfAccounts_RBAC has pods admitted as the admission plugin ServiceAccount does
// it, and compares each reply with kube-apiserver's. Nobody makes accounts beside it, so
// no controller does here.
func TestTableOfAccounts_RBAC(t *testing.T) {
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{Accounts: true, Args: []string{"--controllers=", "--enable-admission-plugins=ServiceAccount"}})
	stories := accounts.Stories()
	tellAllVia(t, &g.Server, newTable(t, accounts.Table, false, stories), stories, func(s story.Send) story.Send { return s })
}

// recordedPod is what kube-apiserver 1.36.3 makes of the spec of a pod with one
// container, but for the end of the volume's name.
const recordedPod = `{"containers":[{"image":"i","imagePullPolicy":"Always","name":"c","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File",` +
	`"volumeMounts":[{"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount","name":"kube-api-access-XXXXX","readOnly":true}]}],` +
	`"volumes":[{"name":"kube-api-access-XXXXX","projected":{"defaultMode":420,"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},` +
	`{"configMap":{"items":[{"key":"ca.crt","path":"ca.crt"}],"name":"kube-root-ca.crt"}},` +
	`{"downwardAPI":{"items":[{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"},"path":"namespace"}]}}]}}]}`

// TestPodsRunAsTheAccountOfTheirNamespace_RBAC makes a namespace and a pod in it at
// once, as users do: the pod waits for the account, whose token lets it in, and what it
// finds in the ConfigMap verifies the gateway.
func TestPodsRunAsTheAccountOfTheirNamespace_RBAC(t *testing.T) {
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{Accounts: true, Args: []string{"--enable-admission-plugins=ServiceAccount"}})
	api := g.API(t)
	api.Post("/api/v1/namespaces", object{"metadata": object{"name": "new"}}).Want(201)
	pod := api.Post("/api/v1/namespaces/new/pods", object{"metadata": object{"name": "p"}, "spec": object{"containers": []any{object{"name": "c", "image": "i"}}}}).Want(201)
	pod.Equal("spec.serviceAccountName", "default").Equal("spec.serviceAccount", "default")
	name := pod.Str("spec.volumes.0.name")
	spec := pod.Object()["spec"].(map[string]any)
	got, err := json.Marshal(map[string]any{"containers": spec["containers"], "volumes": spec["volumes"]})
	if text := strings.ReplaceAll(string(got), name, "kube-api-access-XXXXX"); err != nil || len(name) != len("kube-api-access-XXXXX") || text != recordedPod {
		t.Errorf("the volume is %s:\n%s\nwant\n%s", name, text, recordedPod)
	}
	root := api.Eventually("/api/v1/namespaces/new/configmaps/kube-root-ca.crt", func(r *harness.Reply) bool { return r.Code == 200 })
	trusted := x509.NewCertPool()
	if data := root.Object()["data"].(map[string]any); !trusted.AppendCertsFromPEM([]byte(data["ca.crt"].(string))) {
		t.Fatalf("no certificates: %v", data)
	}
	in := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	r, err := in.Get(g.URL + "/livez")
	if err != nil || r.StatusCode != 200 {
		t.Fatalf("the gateway is not verified: %v, %v", r, err)
	}
	r.Body.Close()
	token := api.Post("/api/v1/namespaces/new/serviceaccounts/default/token", object{"spec": object{"boundObjectRef": object{"apiVersion": "v1", "kind": "Pod", "name": "p"}}}).Want(201).Str("status.token")
	as := g.API(t)
	as.Token = token
	as.Post("/apis/authentication.k8s.io/v1/selfsubjectreviews", `{}`).Want(201).Equal("status.userInfo.username", "system:serviceaccount:new:default")
	api.Delete("/api/v1/namespaces/new/serviceaccounts/default").Want(200)
	api.Eventually("/api/v1/namespaces/new/serviceaccounts/default", func(r *harness.Reply) bool { return r.Code == 200 })
	api.Delete("/api/v1/namespaces/new").Want(200)
	api.Eventually("/api/v1/namespaces/new", func(r *harness.Reply) bool { return r.Code == 404 })
}
