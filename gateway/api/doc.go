// Package api owns what a request and a reply are: the meaning of paths and
// query parameters, content negotiation, the order of the filters, and the
// form of every reply (objects, lists, tables, metadata, watch streams, Status
// errors).
//
// It must not know the HTTP framework (gateway/transport carries requests in
// and replies out), etcd's client or the Wasm runtime, and it decides nothing
// about objects: that is gateway/resource.
package api
