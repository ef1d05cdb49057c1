// Package rules owns converters that nobody programs: lists of operations, written
// for one direction, of which the other one follows, compiled once and run over the
// text of objects.
//
// It must not know where the rules are kept, nor who converts by them. A compiled
// [Rules] is a [conversion.Converter] like any other: callers check its replies.
package rules
