package status_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	modulestatus "github.com/wasmgate/wasmgate/gateway/kinds/module/status"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
)

// The gateway writes the whole status, and a client conditions of its own, under
// whatever name it comes.
func TestClientsWriteConditionsOfTheirOwn(t *testing.T) {
	e := realengine.With(t, func(*engine.Engine) admission.Chain {
		return admission.Chain{Validators: []admission.Validator{modulestatus.Guard{}}}
	})
	controllertest.MustCreate(t, e, gvr.Modules, map[string]any{
		"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule", "metadata": map[string]any{"name": "tabs"},
		"spec": map[string]any{"source": map[string]any{"upload": map[string]any{}}},
	})
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	controllertest.MustChange(t, e, gvr.Modules, "status", "", "tabs", func(obj *unstructured.Unstructured) {
		obj.Object["status"] = map[string]any{"digest": "sha256:1", "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}
	})
	r := e.Catalog.Snapshot().Resource(gvr.Modules)
	name := resource.Component("modules").User.Name
	for patch, forged := range map[string]string{
		`{"status":{"digest":"sha256:1"}}`: "",
		`{"status":{"digest":"sha256:2"}}`: "status.digest: Forbidden",
		`{"status":{"digest":null}}`:       "status.digest: Forbidden",
		`{"status":null}`:                  "status.conditions: Forbidden",
		`{"status":{"size":1}}`:            "status.size: Forbidden",
		`{"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"example.com/Seen","status":"True"}]}}`:  "",
		`{"status":{"conditions":[{"type":"example.com/Seen","status":"False"},{"type":"Ready","status":"True"}]}}`: "",
		`{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`:                                             "status.conditions: Forbidden",
		`{"status":{"conditions":[]}}`: "status.conditions: Forbidden",
		`{"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"Healthy","status":"True"}]}}`: "status.conditions: Forbidden",
	} {
		target := resource.Target{Resource: r, Version: r.Def.Version("v1"), Name: "tabs", Subresource: "status"}
		client := resource.Caller{User: &authn.User{Name: name, Groups: []string{authn.Masters}}} // impersonated
		written, err := e.Verbs.Patch(t.Context(), target, types.MergePatchType, []byte(patch), resource.WriteOptions{Caller: client, DryRun: true})
		if forged == "" {
			if err != nil || !json.Valid(written.Object) {
				t.Errorf("%s: %v", patch, err)
			}
			continue
		}
		var status apierrors.APIStatus
		if status, _ = err.(apierrors.APIStatus); status == nil || status.Status().Code != http.StatusUnprocessableEntity || !strings.Contains(err.Error(), forged) {
			t.Errorf("%s: %v, want %s", patch, err, forged)
		}
	}
}
