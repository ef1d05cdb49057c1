// Command kubewarden is a policy as Kubewarden has them, of the standard library
// alone: it demands labels, and adds one.
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o labels.wasm ./examples/kubewarden
//
// It owns what the policy says (policy.go) and how it is called (wapc.go). It must not
// know the gateway: any host of Kubewarden's policies can run it.
package main

func main() {}
