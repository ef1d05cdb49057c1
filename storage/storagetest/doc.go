// Package storagetest is the conformance kit of the storage contract: every
// implementation of storage.Store runs it against itself.
//
// It owns the checks and what they need to be written in few lines. It must
// not know any implementation. Only tests import it.
package storagetest
