// Package sdk owns what the author of a wasmgate module imports: one function
// per direction, registered in init, makes a CRD conversion.
//
//	func init() {
//		sdk.Convert("v1beta1", "v1", toV1)
//		sdk.Convert("v1", "v1beta1", toV1beta1)
//	}
//
//	func main() {}
//
// Built for wasip1 the package exports the functions of ABI 1; built for
// anything else it is an ordinary library, so that conversions are tested with
// go test ([HandleConversion], [Apply]) and can serve an HTTPS webhook as well.
//
// The package must not know the gateway: it imports the standard library and
// sdk/rawjson, nothing else. Objects are edited as text ([Object]), which
// leaves all that a conversion does not touch exactly as it was and costs a
// small part of what decoding would. [ConvertTyped] decodes to structs for
// those who prefer that.
package sdk
