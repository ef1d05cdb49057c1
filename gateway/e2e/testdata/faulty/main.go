// Command faulty is a conversion module that breaks the contract in the way
// that an object asks for in its annotation "fault".
package main

import (
	"encoding/json"
	"unsafe"
)

type object = map[string]any

var request, reply []byte

//go:wasmexport wasmgate_abi_v1
func abi() {}

//go:wasmexport wasmgate_alloc
func alloc(size uint32) uint32 {
	request = make([]byte, size+1)
	return address(request)
}

func address(b []byte) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

func packed(b []byte) uint64 { return uint64(address(b))<<32 | uint64(len(b)) }

//go:wasmexport wasmgate_convert
func convert(_, length uint32) uint64 {
	var review object
	if err := json.Unmarshal(request[:length], &review); err != nil {
		panic(err)
	}
	req := review["request"].(object)
	converted := req["objects"].([]any)
	response := object{"uid": req["uid"], "result": object{"status": "Success"}}
	for _, o := range converted {
		o := o.(object)
		metadata := o["metadata"].(object)
		annotations, _ := metadata["annotations"].(object)
		fault, _ := annotations["fault"].(string)
		if r, done := breakDown(fault); done {
			return r
		}
		breakObject(fault, o, metadata)
		if fault == "count" {
			converted = append(converted, o)
		}
		if fault == "review-uid" {
			response["uid"] = "0000"
		}
		o["apiVersion"] = req["desiredAPIVersion"]
	}
	response["convertedObjects"] = converted
	review["response"] = response
	delete(review, "request")
	reply, _ = json.Marshal(review)
	return packed(reply)
}

// breakDown is for faults that never give a proper reply.
func breakDown(fault string) (uint64, bool) {
	switch fault {
	case "trap":
		panic("the guest has had enough")
	case "loop":
		for i := 0; ; i++ {
			request[i%len(request)]++
		}
	case "pointer":
		return 0xfffffff0<<32 | 0x100, true
	case "length":
		return uint64(address(request))<<32 | 0xfffffff0, true
	case "nothing":
		return 0, true
	case "garbage":
		reply = []byte(`{"response":`)
		return packed(reply), true
	case "memory":
		var all [][]byte
		for {
			b := make([]byte, 1<<20)
			b[len(b)-1] = 1
			all = append(all, b)
		}
	}
	return 0, false
}

// breakObject is for faults of a single object.
func breakObject(fault string, o, metadata object) {
	switch fault {
	case "uid", "name":
		metadata[fault] = "changed"
	case "kind":
		o["kind"] = "Changed"
	}
}

func main() {}
