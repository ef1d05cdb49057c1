// Package authn decides who is asking: it turns the credentials of a request
// into a [User].
//
// It owns token files, client certificates and their union. It must not know
// HTTP, what the user may do (gateway/authz), or where credentials are kept.
// The transport fills a [Request] from the connection and calls one
// [Authenticator].
package authn
