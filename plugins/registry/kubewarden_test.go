package registry_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/registry"
)

func setKubewarden(t *testing.T, r *registry.Registry, config string) error {
	t.Helper()
	bytes := plugintest.Build(t, plugintest.Kubewarden)
	_, err := r.Set(t.Context(), "labels", plugins.Revision{Digest: "sha256:" + config, Bytes: bytes, Config: []byte(config)})
	return err
}

// A policy of Kubewarden judges by its settings, changes objects, and sees what is
// granted.
func TestAPolicyOfKubewardenJudgesWrites_WP02(t *testing.T) {
	r := newRegistry(t)
	if err := setKubewarden(t, r, `{"required":["team"],"tier":"standard"}`); err != nil {
		t.Fatal(err)
	}
	if s, _ := r.Status("labels"); s.Dialect != plugins.Kubewarden || s.ABI != 1 || len(s.Hooks) != 1 || s.Hooks[0] != plugins.Admit {
		t.Errorf("its status is %+v", s)
	}
	there := func(_ context.Context, o plugins.Object) ([]byte, error) {
		if o.Name == "shop" {
			return []byte(`{"apiVersion":"v1","metadata":{"annotations":{"owner":"sales"}}}`), nil
		}
		return nil, plugins.ErrNoObject
	}
	ask := func(namespace, labels string) (string, error) {
		var got string
		review := `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"7","namespace":"` + namespace + `","object":{"kind":"ConfigMap","metadata":{"name":"a","labels":` + labels + `}}}}`
		_, err := r.Admit(t.Context(), "labels", []byte(review), there, func(reply []byte) error {
			got = string(reply)
			return nil
		})
		return got, err
	}
	check := func(namespace, labels, want string) {
		t.Helper()
		got, err := ask(namespace, labels)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("in %s, %s: %s; want %s", namespace, labels, got, want)
		}
	}
	check("shop", `{}`, `"allowed":false,"status":{"message":"ConfigMap a needs a label \"team\"","code":422}}`)
	check("shop", `{"team":"none"}`, `"allowed":true,"patchType":"JSONPatch","patch":"`)
	check("shop", `{"team":"none","tier":"x"}`, `"allowed":true,"auditAnnotations":{"required":"[team]"},"warnings":["nobody is responsible for a"]}`)

	if err := setKubewarden(t, r, `{"required":["team"],"team":"owner"}`); err != nil {
		t.Fatal(err)
	}
	check("shop", `{"team":"sales"}`, "/namespaces//shop is not granted to the module labels by spec.grants")
	r.Grant("labels", []plugins.Grant{{Resource: "namespaces", Names: []string{"*"}}})
	check("shop", `{"team":"sales"}`, `"allowed":true`)
	check("shop", `{"team":"other"}`, `the namespace shop is of team`)
	check("gone", `{"team":"sales"}`, "/namespaces//gone: there is no such object")

	var refused *plugins.LoadError
	if err := setKubewarden(t, r, `{"required":[]}`); !errors.As(err, &refused) || refused.Reason != plugins.ConfigRefused || !strings.Contains(refused.Detail, "it refuses its settings: required names no label") {
		t.Errorf("settings that are not valid: %v", err)
	}
	check("shop", `{"team":"sales"}`, `"allowed":true`) // the revision before serves on
}
