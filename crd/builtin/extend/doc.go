// Package extend owns what built-in kinds need that no file can say, as functions by
// name for each kind: what is prepared, judged, warned of, and laid out otherwise at
// another version.
//
// It must not know what makes definitions of files: crd/builtin calls these functions.
package extend
