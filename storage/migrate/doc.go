// Package migrate rewrites every key below a prefix, page by page, in a loop
// that can be stopped at any point and resumed.
//
// It owns the walk, the compare-and-set of each key, the counting, the pace,
// and what counts as done. It must not know what a rewrite means: a function
// says what becomes of a value. The controller of storage migrations calls it.
package migrate
