// Package sdks owns what the SDKs of all languages have in common: test/sdks/cases has
// requests and the replies of one module, which is written once in each language, and the
// test compares what the modules reply.
//
// It must not know how an SDK does it.
package sdks
