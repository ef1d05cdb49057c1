//go:build wasip1

package sdk

import "unsafe"

//go:wasmimport wasmgate log
func hostLog(ptr unsafe.Pointer, size uint32)

// Log writes a line to the gateway's log of this module. What was logged last
// is also shown when a call fails.
func Log(line string) {
	hostLog(unsafe.Pointer(unsafe.StringData(line)), uint32(len(line)))
}
