package rawjson

import "unsafe"

// load reads 8 bytes, which have to be there. The compiler does not join byte
// loads on this architecture.
func load(data []byte, i int) uint64 { return *(*uint64)(unsafe.Pointer(&data[i : i+8][0])) }
