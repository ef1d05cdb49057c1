package e2e

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestFlagsOfKubeAPIServer_CLI01: a gateway starts with flags that are in the files of
// clusters, and tells which of them do nothing. Those that do something do it.
func TestFlagsOfKubeAPIServer_CLI01(t *testing.T) {
	g := harness.Start(t, harness.Options{Args: []string{
		"--allow-privileged=true", "--watch-cache", "--storage-backend=etcd3", "--kubelet-client-certificate=/none.crt", "--kubelet-preferred-address-types=InternalIP,Hostname",
		"--feature-gates=kube:SidecarContainers=true,PodLevelResources=false", "--logging-format=text", "--endpoint-reconciler-type=lease", "--contention-profiling",
		"--default-not-ready-toleration-seconds=20", "--default-unreachable-toleration-seconds=30", "--delete-collection-workers=2",
		"--etcd-healthcheck-timeout=1s", "--etcd-readycheck-timeout=1s", "--disabled-metrics=apiserver_request_total", "--controllers=",
	}})
	for _, want := range []string{
		"--watch-cache does nothing here: ", "--kubelet-client-certificate does nothing here: ", "--storage-backend does nothing here: ",
		"Feature gate PodLevelResources=false does nothing here: kube-apiserver has it on by default",
	} {
		if !strings.Contains(g.Log(), want) {
			t.Errorf("the log has no %q", want)
		}
	}
	api := g.API(t)
	r := api.Post("/api/v1/namespaces/default/pods", json.RawMessage(`{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i:1"}]}}`)).Want(201)
	for _, want := range []string{`"not-ready","operator":"Exists","tolerationSeconds":20`, `"unreachable","operator":"Exists","tolerationSeconds":30`} {
		if !bytes.Contains(bytes.ReplaceAll(r.Body, []byte("node.kubernetes.io/"), nil), []byte(want)) {
			t.Errorf("the pod has no %s: %s", want, r.Body)
		}
	}
	if m := api.Get("/metrics").Want(200); bytes.Contains(m.Body, []byte("apiserver_request_total{")) {
		t.Error("a disabled metric is shown")
	}
	api.Get("/livez/etcd").Want(200)
}
