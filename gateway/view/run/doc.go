// Package run owns what lists send of neighbours that were listed before: runs of
// entries that are joined, or compressed with gzip, once, and kept with the first of
// them. A reply is joined of them: a piece that is compressed refers to nothing before it
// and ends at a byte, and the checksum of the whole is computed from those of the pieces.
//
// It must not know how an object is encoded, what was asked for, or HTTP. gateway/api
// gathers lists of it.
package run
