// Package api owns what a request is: the meaning of paths and query parameters, where
// it leads among what is served, and the verbs, a file for each.
//
// A request passes the filters of gateway/api/filter before its verb; what replies look
// like is gateway/api/form's. This package must not know the HTTP framework
// (gateway/transport carries requests in and replies out), etcd's client or the Wasm
// runtime, and it decides nothing about objects: that is gateway/resource.
package api
