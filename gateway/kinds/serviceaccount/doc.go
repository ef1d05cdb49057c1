// Package serviceaccount owns the tokens of ServiceAccounts: what they say, how
// they are signed and asked for, and whom they show a client to be.
//
// A token is believed while it has not expired and the account, and what else it
// is bound to, is there with the same uid. The package must not know what an
// account may do, nor, but for kind.go, where the keys are kept.
package serviceaccount
