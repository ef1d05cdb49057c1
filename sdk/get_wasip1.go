//go:build wasip1

package sdk

import (
	"errors"
	"unsafe"
)

//go:wasmimport wasmgate lookup
func hostLookup(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wasmgate result
func hostResult(ptr unsafe.Pointer)

func lookup(object string) ([]byte, error) {
	answer := hostLookup(unsafe.Pointer(unsafe.StringData(object)), uint32(len(object)))
	told := make([]byte, uint32(answer)+1) // so that there is a place for nothing, too
	hostResult(unsafe.Pointer(unsafe.SliceData(told)))
	told = told[:uint32(answer)]
	switch answer >> 32 {
	case 0:
		return told, nil
	case 1:
		return nil, ErrNotFound
	}
	return nil, errors.New(string(told))
}
