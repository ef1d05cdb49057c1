// Package metrics owns what the gateway counts: kube-apiserver's metrics under
// kube-apiserver's names where it has them, and wasmgate_... for the rest.
//
// The hot path resolves its labels once per kind of request
// ([Metrics.Request]) and afterwards only adds to counters. Labels never carry
// names of objects or anything else that a client makes up; whoever asks for a
// handle passes resources that exist. The package must not know HTTP.
package metrics
