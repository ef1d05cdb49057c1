package options

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Inert is a flag of kube-apiserver's for which there is nothing here. It is taken, as are
// the files that start a kube-apiserver, with a warning.
type Inert struct {
	// Name is without its dashes, Type what its values are: bool, int, duration or text.
	Name, Type string
	// Only are the values that can be meant here; any if there are none.
	Only []string
	// Why there is nothing for it.
	Why string
}

// Inerts are all such flags.
var Inerts = []Inert{
	{Name: "aggregator-reject-forwarding-redirect", Type: "bool", Only: []string{"true"}, Why: "redirects of extension servers are never followed"},
	{Name: "allow-metric-labels", Type: "text", Why: "labels have no values that clients make up"},
	{Name: "allow-metric-labels-manifest", Type: "text", Why: "labels have no values that clients make up"},
	{Name: "apiserver-count", Type: "int", Why: "gateways tell each other by leases that they are there"},
	{Name: "audit-log-version", Type: "text", Only: []string{"audit.k8s.io/v1"}, Why: "events have this version"},
	{Name: "audit-webhook-version", Type: "text", Only: []string{"audit.k8s.io/v1"}, Why: "events have this version"},
	{Name: "default-watch-cache-size", Type: "int", Why: "how much history is kept follows the memory there is"},
	{Name: "disable-http2-serving", Type: "bool", Why: "HTTP/1.1 is spoken"},
	{Name: "enable-garbage-collector", Type: "bool", Only: []string{"true"}, Why: "--controllers=*,-garbage-collector-controller leaves collecting to others"},
	{Name: "enable-logs-handler", Type: "bool", Only: []string{"false"}, Why: "there is no /logs"},
	{Name: "endpoint-reconciler-type", Type: "text", Only: []string{"lease"}, Why: "gateways tell each other by leases that they are there"},
	{Name: "etcd-count-metric-poll-period", Type: "duration", Why: "objects are counted when metrics are read"},
	{Name: "etcd-db-metric-poll-interval", Type: "duration", Why: "the size of the database is asked for when metrics are read"},
	{Name: "external-hostname", Type: "text", Why: "no document names the host; --service-account-jwks-uri is where keys are"},
	{Name: "http2-max-streams-per-connection", Type: "int", Why: "HTTP/1.1 is spoken"},
	{Name: "kubelet-certificate-authority", Type: "text", Why: "no kubelet is asked for anything"},
	{Name: "kubelet-client-certificate", Type: "text", Why: "no kubelet is asked for anything"},
	{Name: "kubelet-client-key", Type: "text", Why: "no kubelet is asked for anything"},
	{Name: "kubelet-port", Type: "int", Why: "no kubelet is asked for anything"},
	{Name: "kubelet-read-only-port", Type: "int", Why: "no kubelet is asked for anything"},
	{Name: "kubelet-preferred-address-types", Type: "text", Why: "no kubelet is asked for anything"},
	{Name: "kubelet-timeout", Type: "duration", Why: "no kubelet is asked for anything"},
	{Name: "kubernetes-service-node-port", Type: "int", Only: []string{"0"}, Why: "the service kubernetes has the type ClusterIP"},
	{Name: "lease-reuse-duration-seconds", Type: "int", Why: "how leases of etcd are shared is up to the gateway"},
	{Name: "log-flush-frequency", Type: "duration", Why: "the log is written at once"},
	{Name: "log-json-info-buffer-size", Type: "text", Why: "the log is written at once"},
	{Name: "log-json-split-stream", Type: "bool", Why: "the log goes to the standard error stream"},
	{Name: "log-text-info-buffer-size", Type: "text", Why: "the log is written at once"},
	{Name: "log-text-split-stream", Type: "bool", Why: "the log goes to the standard error stream"},
	{Name: "permit-address-sharing", Type: "bool", Only: []string{"false"}, Why: "the address is the gateway's alone"},
	{Name: "permit-port-sharing", Type: "bool", Only: []string{"false"}, Why: "the port is the gateway's alone"},
	{Name: "service-account-lookup", Type: "bool", Why: "tokens are always looked up: those of accounts that are gone are refused"},
	{Name: "shutdown-send-retry-after", Type: "bool", Why: "connections are closed after --shutdown-delay-duration"},
	{Name: "shutdown-watch-termination-grace-period", Type: "duration", Why: "watches end after --shutdown-delay-duration"},
	{Name: "storage-backend", Type: "text", Only: []string{"etcd3"}, Why: "the store is etcd"},
	{Name: "storage-initialization-timeout", Type: "duration", Why: "/readyz tells when what is stored is loaded"},
	{Name: "storage-media-type", Type: "text", Why: "built-in kinds are stored in protobuf where they have it, all others in JSON"},
	{Name: "vmodule", Type: "text", Why: "-v is for all of the log"},
	{Name: "watch-cache", Type: "bool", Why: "reads and watches are always answered from memory"},
	{Name: "watch-cache-sizes", Type: "text", Why: "how much history is kept follows the memory there is"},
}

// Check says what is wrong with a value.
func (f *Inert) Check(value string) (err error) {
	switch f.Type {
	case "bool":
		var on bool
		if on, err = strconv.ParseBool(value); err == nil {
			value = strconv.FormatBool(on)
		}
	case "int":
		_, err = strconv.Atoi(value)
	case "duration":
		_, err = time.ParseDuration(value)
	}
	if err == nil && f.Only != nil && !slices.Contains(f.Only, value) {
		err = fmt.Errorf("has to be %s here: %s", f.Only[0], f.Why)
	}
	return err
}

// InertWarnings tell of those that were set and do nothing.
func InertWarnings(set []string) (out []string) {
	for _, f := range Inerts {
		if slices.Contains(set, f.Name) {
			out = append(out, fmt.Sprintf("--%s does nothing here: %s", f.Name, f.Why))
		}
	}
	return out
}
