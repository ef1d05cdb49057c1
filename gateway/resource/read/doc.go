// Package read owns the verbs that read: get, list and watch, what selectors select of
// either, and the objects of kinds that are found out when they are asked for. All
// answer from the watch cache, and from the store what that does not hold any more.
//
// It must not know encodings of what is read, nor who may read it.
package read
