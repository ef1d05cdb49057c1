// Package audit owns what is kept of requests, and where: a policy decides how much,
// events are made of what requests left, and sinks write them to a file or send them to
// a server, without taking memory without bound or, unless that is asked for, the time
// of requests.
//
// An event is one of audit.k8s.io/v1. It is encoded once, for all sinks, and goes on as
// bytes. The package must not know how requests are answered, nor what events are used
// for.
package audit
