// Package storagebackend owns how a gateway comes to its store: an etcd cluster or one
// inside the process by the flags, whether somebody else serves it, encryption between it
// and everything else, and what the log says when it does not answer.
//
// It must not know what is stored, beyond which resource a key belongs to, nor who asks.
// How etcd is spoken to is in storage/etcd, ciphers are in gateway/server/encryption.
package storagebackend
