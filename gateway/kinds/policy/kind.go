package policy

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/policy"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/admitting"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of policies and of webhooks: they are asked, policies are told which of
// their expressions do not fit what they match, and name parameters that their author may read. Module makes what calls the modules
// that are webhooks, and tells who vouches for their content.
func Kind(c kinds.Config, module func(*engine.Engine) (admitting.ModuleCall, admitting.ModuleSigners)) kinds.Kind {
	return kinds.Kind{
		Admission: func(e *engine.Engine, may authz.Decider) ([]admission.Plugin, error) {
			call, signers := module(e)
			all := admitting.Plugins(admitting.Config{Catalog: e.Catalog(), Authorizer: may, Module: call, Signers: signers, Guards: c.Guards, Metrics: c.Metrics, Log: c.Log})
			served := func() []*crd.Definition { return e.Catalog().Snapshot().Definitions }
			return append(all, Parameters{May: may, Policies: local.Part(e, "admission"), Served: served}), nil
		},
		Serve: kinds.Runs(func(e *engine.Engine) []kinds.Controller {
			check := func(p *admissionv1.ValidatingAdmissionPolicy) ([]admissionv1.ExpressionWarning, error) {
				return policy.Check(p, admitting.Types{Catalog: e.Catalog()})
			}
			return []kinds.Controller{{Switch: options.ValidatingAdmissionPolicyStatus, Controller: New(local.Part(e, "admission"), check)}}
		}),
	}
}
