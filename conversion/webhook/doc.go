// Package webhook owns conversion by an HTTPS server: which server a definition
// names, and what is sent to it.
//
// It must not know what happens to converted objects; the contract on them is
// enforced by conversion.Checked. How the server is called is webhook's.
package webhook
