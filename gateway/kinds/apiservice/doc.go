// Package apiservice owns the APIServices of what this server serves itself: one for
// each version of a group, made at the start for built-in kinds, and kept in step with
// the definitions of custom resources.
//
// It must not know how requests to other servers are passed on: gateway/aggregator does.
package apiservice
