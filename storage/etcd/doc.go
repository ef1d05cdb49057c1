// Package etcd keeps the contract of package storage over etcd: over a cluster
// that somebody else runs ([Open]), or over a server inside this process
// ([StartEmbedded]).
//
// It owns everything that is particular to etcd: transactions, leases, the
// sharing of linearizable revision reads, compaction, leader election, and the
// life of the embedded server. It is the only importer of etcd's client and
// server. It must not know what a key means or what a value holds.
//
// The command line opens a [Store] and hands it on as a storage.Store.
package etcd
