// Package pki owns the gateway's TLS identity: its own certificate authority,
// the serving certificate (its own or the operator's), and the admin token.
//
// Everything it makes is kept in one directory with mode 0600, reused on the
// next start and renewed before it expires. It must not know HTTP, users or
// kubeconfig files.
package pki
