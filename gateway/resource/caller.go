package resource

import (
	"cmp"

	"github.com/wasmgate/wasmgate/gateway/authn"
)

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

// managers are whom Kubernetes has in place of a part of the gateway: whose the fields
// are that the part writes, by which clients tell who wrote an object.
var managers = map[string]string{
	"apiservices":        "kube-apiserver",
	"definitions":        "kube-apiserver",
	"namespaces":         "kube-apiserver",
	"priorityclass":      "kube-apiserver",
	"rbac":               "kube-apiserver",
	"services":           "kube-apiserver",
	"flowcontrol":        "api-priority-and-fairness-config-producer-v1",
	"admission":          "validatingadmissionpolicy-status",
	"bootstrap-tokens":   "kube-controller-manager",
	"certificates":       "kube-controller-manager",
	"controllers":        "kube-controller-manager",
	"garbage-collector":  "kube-controller-manager",
	"quotas":             "kube-controller-manager",
	"storage-protection": "kube-controller-manager",
}

// Component is the caller of writes that a part of the gateway makes by
// itself.
func Component(name string) Caller {
	return Caller{
		User:         &authn.User{Name: "system:wasmgate:" + name, Groups: []string{GatewayGroup, authn.AllAuthenticated}},
		FieldManager: cmp.Or(managers[name], name), UserAgent: "wasmgate/" + name, Own: true,
	}
}
