// Package translate owns what becomes of objects of Kubernetes' own kinds at a
// version whose Go type has other fields: how an autoscaler of autoscaling/v2
// looks at v1, and an event of the core group at events.k8s.io/v1, and back.
//
// Functions may share memory with their argument. Nothing that a client can see
// is lost on the way there and back. The package must not know definitions, trees
// or how objects are stored; crd/builtin calls it.
package translate
