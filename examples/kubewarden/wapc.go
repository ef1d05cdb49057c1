//go:build wasip1

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"unsafe"
)

// What waPC has a guest import.

//go:wasmimport wapc __guest_request
func guestRequest(operation, payload unsafe.Pointer)

//go:wasmimport wapc __guest_response
func guestResponse(payload unsafe.Pointer, size uint32)

//go:wasmimport wapc __guest_error
func guestError(message unsafe.Pointer, size uint32)

//go:wasmimport wapc __host_call
func callHost(binding unsafe.Pointer, bindingSize uint32, namespace unsafe.Pointer, namespaceSize uint32,
	operation unsafe.Pointer, operationSize uint32, payload unsafe.Pointer, payloadSize uint32) uint32

//go:wasmimport wapc __host_response_len
func hostResponseSize() uint32

//go:wasmimport wapc __host_response
func hostResponse(payload unsafe.Pointer)

//go:wasmimport wapc __host_error_len
func hostErrorSize() uint32

//go:wasmimport wapc __host_error
func hostError(message unsafe.Pointer)

//go:wasmexport __guest_call
func guestCall(operationSize, payloadSize uint32) uint32 {
	operation, payload := room(operationSize), room(payloadSize)
	guestRequest(at(operation), at(payload))
	var answer any
	var err error
	switch name := string(operation[:operationSize]); name {
	case "validate":
		answer, err = validate(payload[:payloadSize])
	case "validate_settings":
		answer, err = validateSettings(payload[:payloadSize])
	case "protocol_version":
		answer = "v1"
	default:
		err = fmt.Errorf("there is no operation %q", name)
	}
	var reply []byte
	if err == nil {
		reply, err = json.Marshal(answer)
	}
	if err != nil {
		text := []byte(err.Error())
		guestError(at(text), uint32(len(text)))
		return 0
	}
	guestResponse(at(reply), uint32(len(reply)))
	return 1
}

func hostCall(binding, namespace, operation string, payload []byte) ([]byte, error) {
	b, n, o := []byte(binding), []byte(namespace), []byte(operation)
	if callHost(at(b), uint32(len(b)), at(n), uint32(len(n)), at(o), uint32(len(o)), at(payload), uint32(len(payload))) != 1 {
		size := hostErrorSize()
		text := room(size)
		hostError(at(text))
		return nil, errors.New(string(text[:size]))
	}
	size := hostResponseSize()
	reply := room(size)
	hostResponse(at(reply))
	return reply[:size], nil
}

// room has a place, also for nothing.
func room(size uint32) []byte { return make([]byte, size+1) }

func at(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }
