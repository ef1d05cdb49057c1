package etcd

import "go.etcd.io/etcd/server/v3/etcdmain"

// Program is the etcd program with the arguments of a process, its name first. It
// returns when etcd has ended in good order, and otherwise ends the process, as it does
// on a signal. It is for test environments that start an etcd of their own.
func Program(argv []string) { etcdmain.Main(argv) }
