// Package gateway holds the packages between the network and the objects;
// docs/architecture.md shows how they belong together.
//
// It has no code of its own. Its tests own the rules of the whole module: who
// may import whom, what has to be documented, how large a file may be. They
// read the source as text and must not know what it does.
package gateway
