package resource

import "github.com/wasmgate/wasmgate/gateway/authn"

// Caller is who writes. It goes from the edge down to every stage of a write,
// the gateway's own writes included, and is only read.
type Caller struct {
	// User is who was authenticated, or is impersonated.
	User *authn.User
	// FieldManager is the fieldManager parameter, "" when there was none.
	FieldManager string
	// Force is the force parameter of an apply.
	Force bool
	// UserAgent is what the client calls itself.
	UserAgent string
	// RequestID names the request in logs and audit events.
	RequestID string
	// Own tells that a part of the gateway writes by itself, which no name of a
	// user tells: a client may impersonate any.
	Own bool
}

// GatewayGroup is the group of the gateway's own parts.
const GatewayGroup = authn.Masters

// Component is the caller of writes that a part of the gateway makes by
// itself.
func Component(name string) Caller {
	return Caller{
		User:         &authn.User{Name: "system:wasmgate:" + name, Groups: []string{GatewayGroup, authn.AllAuthenticated}},
		FieldManager: name, UserAgent: "wasmgate/" + name, Own: true,
	}
}
