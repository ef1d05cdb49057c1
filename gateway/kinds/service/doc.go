// Package service owns what the server decides about an object of a built-in
// kind by looking at others, while the object is written: the cluster IPs and
// node ports of services, the priority of pods, what their runtime class says, and
// whether claims may have admin access to devices. It keeps the service by which the API is found.
//
// It must not know HTTP nor the store: it sees objects through interfaces.
package service
