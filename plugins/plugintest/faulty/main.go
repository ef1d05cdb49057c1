//go:build wasip1

// Command faulty is a module for tests that replies to conversions what it must
// not. It owns how: it exports the interface by itself, since the SDK would not
// let it. What it replies, which it must not know, is conversion/convtest/faults'.
package main

import (
	"unsafe"

	"github.com/wasmgate/wasmgate/conversion/convtest/faults"
)

var request, reply []byte

func main() {}

//go:wasmexport wasmgate_abi_v1
func abi() {}

//go:wasmexport wasmgate_alloc
func alloc(size uint32) uint32 {
	request = make([]byte, max(size, 1))
	return address(request)
}

//go:wasmexport wasmgate_convert
func convert(_, size uint32) uint64 {
	reply = faults.Reply(request[:size])
	return uint64(address(reply))<<32 | uint64(len(reply))
}

func address(b []byte) uint32 {
	return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
}
