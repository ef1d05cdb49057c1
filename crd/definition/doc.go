// Package definition owns the kind CustomResourceDefinition: how its objects
// are read, stored, defaulted and validated (by the library that kube-apiserver
// uses), what names and conditions follow from a set of them, and what deleting
// one means.
//
// Everything is a pure function. It must not know the store or HTTP, nor what a
// definition is compiled to (crd/custom). The engine serves [Definition], and
// the controller of definitions writes what [Conditions] says.
package definition
