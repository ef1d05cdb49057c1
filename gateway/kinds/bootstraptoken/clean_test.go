package bootstraptoken

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Tokens go when they have expired, and nothing else does.
func TestExpiredTokensGo(t *testing.T) {
	e := realengine.Start(t)
	for _, ns := range []string{"kube-system", "default"} {
		controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree(ns))
	}
	make := func(namespace, name, kind string, lasts time.Duration) {
		data := map[string]any{}
		if lasts != 0 {
			data["expiration"] = base64.StdEncoding.EncodeToString([]byte(time.Now().Add(lasts).UTC().Format(time.RFC3339)))
		}
		controllertest.MustCreate(t, e, secrets, map[string]any{
			"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name, "namespace": namespace}, "type": kind, "data": data,
		})
	}
	const token = "bootstrap.kubernetes.io/token"
	make("kube-system", "bootstrap-token-aaaaa0", token, -time.Minute)
	make("kube-system", "bootstrap-token-aaaaa1", token, 0)
	make("kube-system", "bootstrap-token-aaaaa2", token, time.Hour)
	make("kube-system", "bootstrap-token-aaaaa3", "Opaque", -time.Minute)
	make("default", "bootstrap-token-aaaaa4", token, -time.Minute)
	make("kube-system", "bootstrap-token-aaaaa5", token, 2*time.Second)
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	controllertest.Start(t, e, &Cleaner{Objects: e})
	for _, name := range []string{"bootstrap-token-aaaaa0", "bootstrap-token-aaaaa5"} {
		controllertest.Eventually(t, e, name+" goes", func() bool { return controllertest.Gone(e, secrets, "kube-system", name) })
	}
	for name, namespace := range map[string]string{"aaaaa1": "kube-system", "aaaaa2": "kube-system", "aaaaa3": "kube-system", "aaaaa4": "default"} {
		if controllertest.Gone(e, secrets, namespace, "bootstrap-token-"+name) {
			t.Errorf("%s is gone", name)
		}
	}
}
