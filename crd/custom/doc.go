// Package custom turns a CustomResourceDefinition into a [crd.Definition].
//
// It owns what a custom resource's schema does to its objects: pruning,
// coercion, defaulting, validation, columns, selectable fields and the stored
// JSON. The algorithms are those of k8s.io/apiextensions-apiserver; what is
// added here is a quick check that finds out, in one walk and without
// allocating, that an object needs none of them (see check).
//
// It must not know the store, HTTP, or how conversions are carried out. The
// catalog of served kinds calls it, once for each change of a
// CustomResourceDefinition.
package custom
