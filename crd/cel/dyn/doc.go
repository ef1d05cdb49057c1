// Package dyn evaluates CEL expressions over the trees that objects are, whose
// types are known only then (CEL's dyn). It owns the environment in which the
// files of built-in kinds write their defaults, rules and columns, and bounds
// what an evaluation costs. It must not know what a kind is.
package dyn
