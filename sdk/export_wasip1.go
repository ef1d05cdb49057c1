//go:build wasip1

package sdk

import "unsafe"

// The gateway calls one function at a time, so one buffer each way is enough.
// Both stay referenced between calls, which keeps them where they are.
var (
	request, reply []byte
	answers        handler
)

//go:wasmexport wasmgate_abi_v1
func exportABI() {}

// exportAlloc hands out room for the next request.
//
//go:wasmexport wasmgate_alloc
func exportAlloc(size uint32) uint32 {
	if int(size) > cap(request) {
		request = make([]byte, size+size/4)
	}
	request = request[:size]
	return address(request)
}

//go:wasmexport wasmgate_convert
func exportConvert(ptr, size uint32) uint64 {
	in := request
	if ptr != address(request) || int(size) > len(request) {
		in = unsafe.Slice((*byte)(unsafe.Pointer(uintptr(ptr))), size)
	}
	reply = answers.appendReply(reply[:0], in[:size])
	return uint64(address(reply))<<32 | uint64(len(reply))
}

func address(b []byte) uint32 {
	return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
}
