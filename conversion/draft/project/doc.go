// Package project owns the files that a project of a conversion begins with: what a
// draft says, written down in a language, with what to do next.
//
// It must not know how a draft is made, nor where the files go.
package project
