// Command imports is a module that wants more from its host than there is.
package main

import "unsafe"

//go:wasmimport env open_door
func openDoor()

var memory [64]byte

//go:wasmexport wasmgate_abi_v1
func abi() {}

//go:wasmexport wasmgate_alloc
func alloc(uint32) uint32 { return uint32(uintptr(unsafe.Pointer(&memory[0]))) }

//go:wasmexport wasmgate_convert
func convert(uint32, uint32) uint64 {
	openDoor()
	return 0
}

func main() {}
