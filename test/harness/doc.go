// Package harness runs the real thing for tests: it builds and starts the
// wasmgate binary as a process, builds a real kubectl from source, serves a
// conversion webhook, compiles Wasm modules and offers a plain HTTP client that
// shows a reply as it came over the wire.
//
// It must not import any other package of this module: what it knows of the
// gateway is its command line and its network interface, like any client. Only
// tests import it (and the program in the kubectl folder below is a module of
// its own, so that kubectl's dependencies stay out of go.mod).
//
// # A server that already runs
//
// [Shared] starts one gateway for all tests of a package. When the environment
// names a server it returns that one instead, so that the same tests can be
// run against a deployed gateway, or against kube-apiserver to confirm what
// they expect:
//
//	WASMGATE_TEST_TARGET  its URL, such as https://127.0.0.1:6443
//	WASMGATE_TEST_TOKEN   bearer token of a cluster administrator
//	WASMGATE_TEST_ETCD    client URL of the etcd behind it, for tests that look at stored bytes
//
// Tests that kill the process, or need what only wasmgate has, skip themselves
// then.
package harness
