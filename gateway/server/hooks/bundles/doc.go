// Package bundles owns that definitions and webhook configurations of an API server have
// the bundle that verifies the certificate of a server of webhooks.
//
// It writes nothing but caBundles, only those of webhooks that are this server, and none
// that somebody else looks after. It must not know what is served.
package bundles
