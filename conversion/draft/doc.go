// Package draft owns the guess of how one version of a kind becomes another: two
// schemas in, the operations of conversion rules out, each with the reason for it and
// whether it is certain.
//
// It must not know where schemas come from, nor in which language a conversion is
// written. What it does is bounded by the number of fields that differ, whatever the
// schemas are.
//
// The schemas are walked side by side (walk.go). Fields that only one of them has go
// into two pools, in which texts are found that were split (parts.go) and pairs that
// are the same under another name or at another place (match.go, by score.go). What is
// left is kept in annotations (rest.go), unless the other version keeps it without a name
// (unnamed.go).
package draft
