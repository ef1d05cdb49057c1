// Package file owns the format of the files of built-in kinds: what they can say, and
// how they are read and checked. docs/kinds.md explains it to those who write one.
//
// It must not know any kind, nor what a definition is made of: crd/builtin does that.
package file
