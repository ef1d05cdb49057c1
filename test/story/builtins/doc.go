// Package builtins owns a table of the requests that a client can make of each
// built-in kind, and of the mistakes it can make: verbs, paths, parameters, media
// types, protobuf, patches, and every field of an object set wrongly. A kind is an object in
// kinds.yaml; the requests are made from it. They keep nothing but that object,
// while its story is told. kube-apiserver's answers are in test/recorded, a
// file a kind; test/cmd/record writes them.
//
// At the end of each story the object is changed, and watched.
// ValidatingAdmissionPolicies are left out: a gateway writes their status meanwhile.
//
// It must not know what the answer to a request is.
package builtins
