// Package accessreview owns the answers to reviews: objects by which a client asks
// who it is, who somebody is, and what they may do. It asks the authenticator
// and the authorizer that every request goes through, and so it must not know
// how these decide; kind.go joins it to the gateway.
package accessreview
