// Package kubewarden owns what passes between the gateway and a policy of
// Kubewarden: how a review becomes a request of its, what its answers mean, and what
// it may ask of its host.
//
// It must not know how guests are called, nor who may look up what; plugins/wasm has
// the bytes carried. Answers are written by whoever wrote the policy: they are read
// as a whole or refused.
package kubewarden
