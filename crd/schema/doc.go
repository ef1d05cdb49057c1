// Package schema owns how the Go types of the Kubernetes API become
// OpenAPI schemas, so that built-in kinds are described the way custom
// resources are.
//
// For makes the schema of a custom resource, Models the models of a document, which refer
// to each other by name. It knows Go types, their json tags and their SwaggerDoc methods,
// and has in files what only comments in their source say. It must not
// know definitions, HTTP or storage. crd/builtin and crd/definition call it, and
// gateway/discovery/openapi.
package schema
