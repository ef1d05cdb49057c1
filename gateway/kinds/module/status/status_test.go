package status_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// Who writes a module owns nothing of its status, whatever the body says of it.
func TestAStatusIsNotOfWhoWritesTheModule_SSA05(t *testing.T) {
	e := realengine.With(t, func(*engine.Engine) admission.Chain { return admission.Chain{} })
	r := e.Catalog.Snapshot().Resource(gvr.Modules)
	target := resource.Target{Resource: r, Version: r.Def.Version("v1"), Name: "tabs"}
	const body = `{"apiVersion":"wasmgate.dev/v1","kind":"WasmModule","metadata":{"name":"tabs","resourceVersion":"%s"},"spec":{"source":{"upload":{}}},"status":{"digest":"sha256:1"}}`
	revision := ""
	for round, write := range []func(context.Context, resource.Target, []byte, resource.WriteOptions) (*resource.Written, error){e.Verbs.Create, e.Verbs.Update} {
		written, err := write(t.Context(), target, fmt.Appendf(nil, body, revision), resource.WriteOptions{Caller: resource.Component("author")})
		if err != nil {
			t.Fatal(err)
		}
		if made := string(written.Object); strings.Contains(made, "f:status") || strings.Contains(made, "sha256:1") || !strings.Contains(made, "f:spec") {
			t.Errorf("round %d: %s", round, made)
		}
		var obj metav1.PartialObjectMetadata
		if err := json.Unmarshal(written.Object, &obj); err != nil {
			t.Fatal(err)
		}
		revision = obj.ResourceVersion
	}
}
