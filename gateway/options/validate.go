package options

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"time"

	"github.com/wasmgate/wasmgate/lifecycle"
)

// leastViewCache is so much that objects are not gone through all the time to see
// what is remembered of them.
const leastViewCache = 16 << 20

// leastMemory is enough for a gateway with few objects.
const leastMemory = 256 << 20

// leastCompileMemory is enough for a small module in Go; half of it is the
// program's own.
const leastCompileMemory = 256 << 20

// Validate returns all that is wrong with the configuration, joined into one
// error, each named by its flag.
func (s Serve) Validate() error {
	var errs []error
	bad := func(flag, format string, args ...any) {
		errs = append(errs, fmt.Errorf("--"+flag+": "+format, args...))
	}
	s.validateEtcd(bad)
	s.validateServing(bad)
	s.validatePlugins(bad)
	s.validateControllers(bad)
	s.validateAsServer(bad)
	s.validateReleases(bad)
	known := gatesAt(lifecycle.Gates, s.Release())
	for _, g := range s.FeatureGates {
		if err := gateError(known, g, s.Release()); err != nil {
			bad("feature-gates", "%v", err)
		}
	}
	if _, err := s.Runtime(); err != nil {
		bad("runtime-config", "%w", err)
	}
	s.validateAccounts(bad)
	s.Authentication.validate(bad)
	s.validateAuthorization(bad)
	s.Audit.validate(bad)
	s.Proxy.validate(bad)
	if s.DataDir == "" {
		bad("data-dir", "must not be empty")
	}
	for flag, d := range map[string]time.Duration{
		"event-ttl": s.EventTTL, "request-timeout": s.RequestTimeout,
	} {
		if d <= 0 {
			bad(flag, "must be greater than 0, got %s", d)
		}
	}
	if s.API != WholeAPI && s.API != CustomAPI {
		bad("api", "must be %s or %s, got %q", WholeAPI, CustomAPI, s.API)
	}
	if ip := net.ParseIP(s.AdvertiseAddress); s.AdvertiseAddress != "" && (ip == nil || ip.IsUnspecified() || ip.IsLoopback()) {
		bad("advertise-address", "must be an IP address that others reach, got %q", s.AdvertiseAddress)
	}
	if _, err := s.ClusterIPs(); err != nil {
		bad("service-cluster-ip-range", "%w", err)
	}
	if _, _, err := s.NodePorts(); err != nil {
		bad("service-node-port-range", "%w", err)
	}
	if s.ShutdownDelay < 0 {
		bad("shutdown-delay-duration", "must not be negative, got %s", s.ShutdownDelay)
	}
	if s.LivezGracePeriod < 0 {
		bad("livez-grace-period", "must not be negative, got %s", s.LivezGracePeriod)
	}
	if s.MinRequestTimeout <= 0 {
		bad("min-request-timeout", "must be greater than 0, got %d", s.MinRequestTimeout)
	}
	s.validateModules(bad)
	s.validateBounds(bad)
	return errors.Join(errs...)
}

func (s Serve) validateModules(bad func(flag, format string, args ...any)) {
	if s.ModuleQuota < 0 {
		bad("module-quota", "must not be negative, got %d", s.ModuleQuota)
	}
	if s.ModuleIdleMemory < 0 {
		bad("module-idle-memory", "must not be negative, got %d", s.ModuleIdleMemory)
	}
	if s.ModuleFailedCalls < 0 {
		bad("module-failed-calls", "must not be negative, got %d", s.ModuleFailedCalls)
	}
	if s.ModuleCompileMemory < leastCompileMemory && s.ModuleCompileMemory != 0 {
		bad("module-compile-memory", "must be 0, for any number, or at least %d bytes, got %d", leastCompileMemory, s.ModuleCompileMemory)
	}
	if s.ModuleCompileTime < time.Second && s.ModuleCompileTime != 0 {
		bad("module-compile-time", "must be 0, for any time, or at least a second, got %s", s.ModuleCompileTime)
	}
}

func (s Serve) validateBounds(bad func(flag, format string, args ...any)) {
	if s.ViewCacheBytes < leastViewCache && s.ViewCacheBytes != 0 {
		bad("view-cache", "must be 0, for any number, or at least %d bytes, got %d", leastViewCache, s.ViewCacheBytes)
	}
	if s.MaxRequestBodyBytes < 1<<10 {
		bad("max-request-body", "must be at least 1024 bytes, got %d", s.MaxRequestBodyBytes)
	}
	for flag, n := range map[string]int{
		"max-requests-inflight": s.MaxRequestsInFlight, "max-mutating-requests-inflight": s.MaxMutatingRequestsInFlight, "max-watches-per-user": s.MaxWatchesPerUser,
		"max-connections-per-user": s.MaxConnectionsPerUser, "max-connections-per-address": s.MaxConnectionsPerAddress,
	} {
		if n < 0 {
			bad(flag, "must not be negative, got %d", n)
		}
	}
	if s.PriorityAndFairness && s.MaxRequestsInFlight+s.MaxMutatingRequestsInFlight == 0 {
		bad("enable-priority-and-fairness", "must be false where --max-requests-inflight and --max-mutating-requests-inflight are both 0: there would be no seats")
	}
	if s.MemoryBudget < leastMemory && s.MemoryBudget != 0 {
		bad("memory-budget", "must be 0, for what the control group or the machine has, or at least %d bytes, got %d", leastMemory, s.MemoryBudget)
	}
	if s.MaxDecodingMemory < 0 {
		bad("max-decoding-memory", "must not be negative, got %d", s.MaxDecodingMemory)
	}
}

// EtcdPrefix is what kube-apiserver makes of the value of its flag: with a slash at the
// beginning and none at the end.
func EtcdPrefix(given string) string { return path.Join("/", given) }

func (s Serve) validateEtcd(bad func(flag, format string, args ...any)) {
	if s.EncryptionProviderConfigAutomaticReload && s.EncryptionProviderConfig == "" {
		bad("encryption-provider-config-automatic-reload", "must be set with --encryption-provider-config")
	}
	for _, server := range s.EtcdServers {
		if !isURL(server) {
			bad("etcd-servers", "%q is not a URL such as http://127.0.0.1:2379", server)
		}
	}
	if s.EtcdPrefix != EtcdPrefix(s.EtcdPrefix) || s.EtcdPrefix == "/" {
		bad("etcd-prefix", "must begin with a slash, end without one and name something, got %q", s.EtcdPrefix)
	}
	if s.EtcdCompactionInterval < 0 {
		bad("etcd-compaction-interval", "must not be negative, got %s", s.EtcdCompactionInterval)
	}
	for flag, timeout := range map[string]time.Duration{"etcd-healthcheck-timeout": s.EtcdHealthcheckTimeout, "etcd-readycheck-timeout": s.EtcdReadycheckTimeout} {
		if timeout <= 0 {
			bad(flag, "must be more than 0, got %s", timeout)
		}
	}
	if (s.EtcdCertFile == "") != (s.EtcdKeyFile == "") {
		bad("etcd-certfile", "goes with --etcd-keyfile: set both or none")
	}
	if s.Embedded() && (s.EtcdCAFile != "" || s.EtcdCertFile != "") {
		bad("etcd-cafile", "it and --etcd-certfile are for --etcd-servers; the embedded etcd needs none")
	}
	if s.EmbeddedEtcdClientURL == "" {
		return
	}
	if !s.Embedded() {
		bad("embedded-etcd-client-url", "there is no embedded etcd with --etcd-servers")
	}
	switch u, err := url.Parse(s.EmbeddedEtcdClientURL); {
	case err != nil || u.Scheme != "http" && u.Scheme != "unix" || u.Host+u.Path == "":
		bad("embedded-etcd-client-url", "%q is not a URL such as http://127.0.0.1:2379 or unix:///run/etcd.sock", s.EmbeddedEtcdClientURL)
	case u.Scheme == "http" && !loopback(u.Hostname()) && !s.EmbeddedEtcdOpen:
		bad("embedded-etcd-client-url", "%s is no loopback address: whoever reaches it reads and changes everything, Secrets too, for nobody is asked who they are; "+
			"name 127.0.0.1 or a unix socket, or set --embedded-etcd-open if this is meant", u.Host)
	}
}

// loopback reports whether only processes of this machine reach a host.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (s Serve) validateServing(bad func(flag, format string, args ...any)) {
	if net.ParseIP(s.BindAddress) == nil {
		bad("bind-address", "%q is not an IP address", s.BindAddress)
	}
	if s.SecurePort < 0 || s.SecurePort > 65535 {
		bad("secure-port", "must be between 0 and 65535, got %d", s.SecurePort)
	}
	if (s.TLSCertFile == "") != (s.TLSPrivateKeyFile == "") {
		bad("tls-cert-file", "goes with --tls-private-key-file: set both or none")
	}
	s.TLS.validate(bad)
	s.Clients.validate(bad)
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
