// Package docs owns the tests that do what the documents say: the README and the pages of
// docs are typed, block by block, against a gateway of their own, and what is printed is
// compared with what a reader is promised.
//
// They must not know the gateway but from outside, as their readers do; what it answers
// beyond the documents is the affair of package e2e.
package docs
