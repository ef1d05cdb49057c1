//go:build wasip1

package main

import (
	"unsafe"

	"github.com/wasmgate/wasmgate/test/story/admissions/answer"
)

// The gateway calls one function at a time, so one buffer each way is enough.
var request, reply []byte

//go:wasmexport wasmgate_abi_v1
func abi() {}

//go:wasmexport wasmgate_alloc
func alloc(size uint32) uint32 {
	request = make([]byte, size)
	return address(request)
}

//go:wasmexport wasmgate_admit
func admit(_, size uint32) uint64 {
	out, ok := answer.Review(request[:size])
	if !ok {
		panic("no answer")
	}
	reply = out
	return uint64(address(reply))<<32 | uint64(len(reply))
}

func address(b []byte) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
