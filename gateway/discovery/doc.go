// Package discovery owns the documents that tell clients what is served: /api,
// /apis and what is below them, in the form of one list for each group version
// and in the aggregated form.
//
// It is pure: definitions go in, bytes come out. It must not know HTTP beyond
// media types, nor storage. gateway/api asks it for documents, and makes new
// ones when definitions change.
package discovery
