//go:build !wasm

package rawjson

import "encoding/binary"

// load reads 8 bytes, which have to be there.
func load(data []byte, i int) uint64 { return binary.LittleEndian.Uint64(data[i:]) }
