// Package service owns the cluster IPs and node ports of services, which are decided
// while a service is written, and the service by which the API is found.
//
// It must not know HTTP nor the store: but for kind.go, which joins it to the gateway,
// it sees objects through interfaces.
package service
