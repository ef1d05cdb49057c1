// Package webhook owns what the webhooks of admissionregistration.k8s.io decide
// about a request: which of them match it, in which order they are asked, what they
// are sent, and what their answers do to the object or to the request, in
// kube-apiserver's words.
//
// It must not know who stores or serves objects, nor how a webhook is reached:
// a [Caller] is an HTTPS server or a Wasm module, and both get the same review,
// the same checks and the same errors. Configurations are compiled once.
package webhook
