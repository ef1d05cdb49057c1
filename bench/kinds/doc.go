// Kinds sends manifests to two servers, a kube-apiserver and a wasmgate, and
// tells where the answers differ: in the code, in the stored object, in the
// table. With -record it writes the first server's answers, which the tests of
// crd/builtin compare with.
//
//	go run ./bench/kinds -peer https://127.0.0.1:6443 -url https://127.0.0.1:7443 -token TOKEN FILE|FOLDER...
package main
