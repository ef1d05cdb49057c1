// Package encrypted keeps the values of a store in another form than its callers
// see: encrypted, by a [Transformer] that says how.
//
// It owns that no value passes by the transformer, whichever way it is read or
// written, what becomes of values that cannot be read, and that they are read again
// once they can be. It must not know what a key means, which ciphers there are, nor
// where they are configured. The server puts it between etcd and everything else,
// if anything is to be encrypted.
package encrypted
