// Command kinds sends manifests to two servers, a kube-apiserver and a
// wasmgate, and tells where the answers differ: in the code, in the stored
// object, in the table. With -record it writes the first server's answers,
// which the tests of crd/builtin compare with.
//
// It owns what counts as a difference between two answers. It knows the servers
// only over the network: it must not import the gateway, nor know anything of a
// kind but what is in a manifest and in discovery.
//
//	go run ./bench/kinds -peer https://127.0.0.1:6443 -url https://127.0.0.1:7443 -token TOKEN FILE|FOLDER...
package main
