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
		o["apiVersion"] = req["desiredAPIVersion"]
		breakObject(fault, o, metadata)
		converted = breakReview(fault, review, response, converted)
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
	case "uid", "name", "namespace":
		metadata[fault] = "changed"
	case "kind":
		o["kind"] = "Changed"
	case "group":
		o["apiVersion"] = "other.example.com/v1"
	case "no-metadata":
		delete(o, "metadata")
	case "bad-label":
		metadata["labels"] = object{"a b": "c"}
	case "made-up":
		metadata["finalizers"] = []any{"example.com/made-up"}
		metadata["labels"] = object{"converted": "yes"}
	}
}

// breakReview is for faults of the reply around the objects; it returns those
// to reply with.
func breakReview(fault string, review, response object, converted []any) []any {
	switch fault {
	case "count":
		return append(converted, converted[0])
	case "none":
		return converted[:0]
	case "null":
		return []any{nil}
	case "review-uid":
		response["uid"] = "0000"
	case "review-version":
		review["apiVersion"] = "apiextensions.k8s.io/v1beta1"
	case "review-kind":
		review["kind"] = "Review"
	case "failed":
		response["result"] = object{"status": "Failed", "message": "it cannot be parsed"}
	case "failed-silently":
		response["result"] = object{"status": "Failed"}
	case "no-result":
		delete(response, "result")
	}
	return converted
}

func main() {}
