// Command sets installs CustomResourceDefinitions that other projects published in two
// servers, a kube-apiserver and a wasmgate, has both take the same objects of every
// version, and tells where the answers differ: in the code, in the object, in the table.
//
// It owns which definitions these are (sets.yaml) and what counts as a difference. It
// knows the servers only over the network: it must not import the gateway.
//
//	go run ./bench/sets -peer https://127.0.0.1:6443 -url https://127.0.0.1:7443 -token TOKEN [NAME...]
//
// The definitions come out of Go modules, so those have to be within reach. Converters of
// these projects are not there: versions are served without conversion, as strategy None.
package main
