// Package garbage owns what becomes of objects whose owners go: dependents of an
// owner that is gone, or never was, are deleted; those of one that waits with
// "foregroundDeletion" are deleted before it; those of one with "orphan" lose
// their reference to it. An owner that nobody can tell about exists.
//
// An index of the owner references, by the owner's uid, is kept from the
// changes of all kinds; it finds what has to be looked at. What is decided is
// decided on the objects themselves: on stored metadata, so that a converter
// that fails cannot hold anything up, and with preconditions, so that nothing
// is done to another object, or another state, than the one that was looked at.
//
// It must not know any kind but Events, nor how objects are stored, served or
// converted.
package garbage
