// Package structured believes tokens that others issue: JWTs of the issuers that an
// AuthenticationConfiguration of kube-apiserver names, and tokens that a webhook knows.
//
// It owns the file, its changes, and what of both libraries is remembered. It must not
// know flags, nor who else is believed.
package structured
