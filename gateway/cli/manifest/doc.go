// Package manifest owns files of objects as people write them: the documents in one, and
// how a document takes on another value while its comments, its order and the lines that
// say the same stay as they are.
//
// It must not know what the objects are, nor who changed them.
package manifest
