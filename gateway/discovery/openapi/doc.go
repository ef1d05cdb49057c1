// Package openapi owns the OpenAPI documents of what is served: /openapi/v3
// with one document for each group version, and /openapi/v2 with everything.
//
// It is pure: definitions go in, bytes come out. Every kind, built-in or not,
// is described by Kubernetes' own builder for custom resources; those with Go types
// then get the names and models that clients know them by (crd/schema). A
// document is made when it is first asked for, and kept for as long as the
// definitions in it stay the same, so that a changed kind costs only itself.
//
// The package must not know HTTP beyond media types, nor storage. gateway/api
// asks it for documents.
package openapi
