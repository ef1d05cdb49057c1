// Package schema owns how the Go types of the Kubernetes API become
// OpenAPI schemas, so that built-in kinds are described the way custom
// resources are.
//
// It knows Go types, their json tags and their SwaggerDoc methods. It must not
// know definitions, HTTP or storage. crd/builtin and crd/definition call it.
package schema
