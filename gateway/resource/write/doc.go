// Package write owns the verbs that write, and the order of a write from a request's
// bytes to the store's ([Write.attempt]): the only place where admission, conversion and
// storage meet. Each stage is given the request, the present state and the next one.
//
// It must not know HTTP, nor any kind; what shares something between objects keeps its
// accounts behind [resource.Accounts].
package write
