// Package garbage owns what becomes of the dependents of an object that is
// deleted with a finalizer for that: those of one with "orphan" lose their
// reference to it, those of one with "foregroundDeletion" are deleted before
// it. It works on stored metadata, so a converter that fails cannot hold
// anything up.
//
// It does not look for dependents whose owner is gone already.
//
// It must not know any kind, nor how objects are stored, served or converted.
package garbage
