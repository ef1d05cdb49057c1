package main

import "github.com/wasmgate/wasmgate/sdk"

// narrow lacks what somebody added to the schemas later.
type narrow struct {
	Spec *struct {
		Size int32 `json:"size,omitempty"`
	} `json:"spec,omitempty"`
}

func init() {
	same := func(from, to *narrow) error { *to = *from; return nil }
	sdk.ConvertTyped("v1alpha1", "v2alpha1", same)
	sdk.ConvertTyped("v2alpha1", "v1alpha1", same)
}
