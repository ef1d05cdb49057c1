// Package expr evaluates CEL expressions over the trees that objects are. It
// owns the environment in which the files of built-in kinds write their
// defaults, rules and columns: everything is dynamically typed, and costs are
// bounded. It must not know what a kind is.
package expr
