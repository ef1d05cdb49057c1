// Package module owns what a WasmModule says: its source, limits and grants, the
// annotations that steer it, the status with the reports of its trial, its calls
// and its image, and which objects refer to it.
//
// It must not know who makes modules serve, nor how they run.
package module

// The annotations of a WasmModule.
const (
	// ContentAnnotation is the digest of the content that was uploaded last.
	ContentAnnotation = "wasmgate.dev/content-digest"
	// RetryAnnotation is any text. A new one lets a gateway that ended while
	// it loaded the content try once more, and an image be pulled again.
	RetryAnnotation = "wasmgate.dev/retry"
)
