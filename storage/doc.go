// Package storage is the contract between everything that keeps state and the
// store that keeps it: keys, bytes and revisions, with etcd's guarantees.
//
// It owns the [Store] interfaces, their value types and their typed errors. It
// must not know what an object, a definition or a conversion is, and imports
// nothing else of this module. Implementations live below it (etcd); the
// watch cache and the rewrite loop of migrations are built on the contract
// alone.
package storage
