// Package health answers whether the gateway is alive and ready.
//
// It owns named checks and the texts of /livez, /readyz and /healthz, which
// are kube-apiserver's. It must not know HTTP or what a check looks at:
// whoever owns a part of the gateway adds the check for it.
package health
