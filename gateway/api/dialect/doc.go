// Package dialect owns where kube-apiserver answers for the kinds that it has itself
// otherwise than for custom resources, whose handler is another: which requests have
// a handler, what all others are told, and what a Go type adds to a reply.
//
// It must not know connections, how a verb is answered, nor how replies are encoded.
package dialect
