// Package workload owns the objects that costs are measured with: a custom
// resource with two versions, and ConfigMaps.
//
// It must not know what is measured, nor how it is asked for: the program beside
// it sends them to a running server, and the test of the gateway's own cost hands
// them to its handler.
package workload
