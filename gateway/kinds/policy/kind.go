package policy

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/policy"
	"github.com/wasmgate/wasmgate/gateway/admitting"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of policies and of webhooks: they are asked, and policies are told which
// of their expressions do not fit what they match. Module makes what calls the modules
// that are webhooks, and tells who vouches for their content.
func Kind(c kinds.Config, module func(*engine.Engine) (admitting.ModuleCall, admitting.ModuleSigners)) kinds.Kind {
	return kinds.Kind{
		Admission: func(e *engine.Engine, may authz.Decider) ([]admission.Plugin, error) {
			call, signers := module(e)
			return admitting.Plugins(admitting.Config{Catalog: e.Catalog(), Authorizer: may, Module: call, Signers: signers, Guards: c.Guards, Metrics: c.Metrics, Log: c.Log}), nil
		},
		Serve: kinds.Runs(func(e *engine.Engine) []kinds.Controller {
			check := func(p *admissionv1.ValidatingAdmissionPolicy) ([]admissionv1.ExpressionWarning, error) {
				return policy.Check(p, admitting.Types{Catalog: e.Catalog()})
			}
			return []kinds.Controller{{Switch: options.ValidatingAdmissionPolicyStatus, Controller: New(local.Part(e, "admission"), check)}}
		}),
	}
}
