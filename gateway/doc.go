// Package gateway holds the packages between the network and the objects:
//
//	cli         flags, signals and the client commands
//	options     the configuration of a gateway
//	server      puts all parts together and runs them
//	transport   HTTP, and nothing but HTTP
//	api         requests, replies and the order in which a request is treated
//	authn       who is asking
//	authz       what they may do
//	resource    the verbs, for every kind of object
//	controller  background work
//	health      /livez, /readyz, /healthz
//	metrics     /metrics
//	pki         certificates and the admin token
//	kubeconfig  the administrator's kubeconfig
//
// It has no code of its own. Its test holds the rules of the whole module: who
// may import whom, and how large a file may be.
package gateway
