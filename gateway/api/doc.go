// Package api owns what a request and a reply are: the meaning of paths and
// query parameters, content negotiation, the verbs, and the form of every reply
// (objects, lists, tables, metadata, watch streams, Status errors).
//
// A request passes the filters of gateway/api/filter before its verb. This package
// must not know the HTTP framework (gateway/transport carries requests in and replies
// out), etcd's client or the Wasm runtime, and it decides nothing about objects: that
// is gateway/resource.
package api
