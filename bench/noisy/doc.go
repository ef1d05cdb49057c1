// Command noisy measures what one tenant of a server can do to another: how long small
// requests of a quiet one take alone, beside each kind of noise, and beside all of them at
// once, and how much memory the server takes meanwhile. The noise is made by a process of
// its own that has less right to the processors, so that what is measured is the server.
//
//	go run ./bench/noisy -url https://127.0.0.1:6443 -token admintoken -pid 123
//
// It owns two tenants, the noise and how the quiet one is measured; it knows servers only
// over the network, and their processes by /proc. It must not import the gateway.
package main
