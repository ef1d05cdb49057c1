// Package transport owns how requests come in and replies go out: it is the only
// importer of the HTTP framework.
//
// It copies everything out of the framework's reused memory, turns replies
// into bytes on the connection, takes connections over for streams, and ends
// them in order when the server stops. It must not know what a request means.
package transport
