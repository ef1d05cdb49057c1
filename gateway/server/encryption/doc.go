// Package encryption owns the file of --encryption-provider-config, an
// EncryptionConfiguration as kube-apiserver has it: which provider encrypts the
// objects of which resource, with which keys, and what is in force of it now.
//
// Format, checks and ciphers are those of k8s.io/apiserver, so that either server
// reads what the other wrote. It must not know how a store is read and written
// (storage/encrypted), nor how keys belong to resources: a function says that.
package encryption
