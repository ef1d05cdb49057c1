// Package merge owns what can be done with trees (objects as maps, lists and
// scalars) by their types: checking them, finding which fields they set, what
// differs between two of them, merging one into the other, removing fields. The
// rules are those of structured-merge-diff, whose sets of fields it speaks of;
// the types are made of the schemas that definitions have. Equal parts of two
// trees are passed over, and results share memory with what they are made of,
// which is why trees must not be changed.
//
// It must not know managers, versions or managedFields; package apply does.
package merge
