// Package webhook owns conversion by an HTTPS server: where it is, how it is
// trusted, what is sent and which replies are errors.
//
// It must not know what happens to converted objects; the contract on them is
// enforced by conversion.Checked. The server is not trusted: redirects are not
// followed and every reply is bounded in time and size.
package webhook
