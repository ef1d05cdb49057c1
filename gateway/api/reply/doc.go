// Package reply owns what a reply is, as a value: its code, its header and its body,
// or how that is sent; and the replies to what goes wrong, which are Statuses in JSON.
//
// It must not know requests, nor what else a body may be.
package reply
