// Package shapes owns conversions as Kubernetes' own kinds needed them when they
// left beta: a rename, a split by type, a value that moved into a list, a map that
// became fields, a default that changed, a field that became required. Each loses
// nothing on the way back. They are examples to copy, for kinds of any group.
//
// examples/shapes/module makes a Wasm module of them. It must not know the gateway.
package shapes

import (
	"github.com/wasmgate/wasmgate/sdk"
)

func init() {
	both("Ingress", "v1beta1", ingressToV1, ingressToV1beta1)
	both("HorizontalPodAutoscaler", "v2beta1", autoscalerToV2, autoscalerToV2beta1)
	both("Event", "v1beta1", eventToV1, eventToV1beta1)
	both("EndpointSlice", "v1beta1", endpointsToV1, endpointsToV1beta1)
	both("PodDisruptionBudget", "v1beta1", budgetToV1, budgetToV1beta1)
	both("PriorityLevelConfiguration", "v1beta3", levelToV1, levelToV1beta3)
	both("Deployment", "v1beta1", deploymentToV1, deploymentToV1beta1)
	both("CertificateSigningRequest", "v1beta1", requestToV1, requestToV1beta1)
}

// current are the present versions that are not v1.
var current = map[string]string{"HorizontalPodAutoscaler": "v2"}

func both(kind, old string, up, down sdk.Func) {
	now := current[kind]
	if now == "" {
		now = "v1"
	}
	sdk.For(kind).Convert(old, now, up)
	sdk.For(kind).Convert(now, old, down)
}

// inOrder stops at the first error.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// renamed is a step that gives a field another place, where there is one.
func renamed(o *sdk.Object, from, to []string) func() error {
	return func() error {
		if f := o.At(from...); f.Exists() {
			return f.MoveTo(to...)
		}
		return nil
	}
}

// defaulted is a step that writes a value where there is none.
func defaulted(o *sdk.Object, json string, path ...string) func() error {
	return func() error {
		if f := o.At(path...); !f.Exists() {
			return f.SetRaw([]byte(json))
		}
		return nil
	}
}
