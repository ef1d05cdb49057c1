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
	if request == nil {
		answers.warm()
	}
	if int(size) > cap(request) {
		request = make([]byte, size+size/4)
		if cap(reply) < cap(request) { // most replies are about as long
			reply = make([]byte, 0, cap(request))
		}
	}
	request = request[:size]
	return address(request)
}

//go:wasmexport wasmgate_convert
func exportConvert(ptr, size uint32) uint64 {
	return hand(answers.appendReply(reply[:0], sent(ptr, size)))
}

//go:wasmexport wasmgate_admit
func exportAdmit(ptr, size uint32) uint64 {
	return hand(appendAdmission(reply[:0], sent(ptr, size)))
}

//go:wasmexport wasmgate_prioritize
func exportPrioritize(ptr, size uint32) uint64 {
	return hand(appendPriority(reply[:0], sent(ptr, size)))
}

//go:wasmexport wasmgate_configure
func exportConfigure(ptr, size uint32) uint64 {
	return hand(appendConfigured(reply[:0], sent(ptr, size)))
}

//go:wasmexport wasmgate_describe
func exportDescribe() uint64 { return hand(appendDescription(reply[:0])) }

// sent is the request that the gateway speaks of.
func sent(ptr, size uint32) []byte {
	in := request
	if ptr != address(request) || int(size) > len(request) {
		in = unsafe.Slice((*byte)(unsafe.Pointer(uintptr(ptr))), size)
	}
	return in[:size]
}

// hand hands the reply to the gateway.
func hand(out []byte) uint64 {
	reply = out
	return uint64(address(reply))<<32 | uint64(len(reply))
}

func address(b []byte) uint32 {
	return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
}
