// Package options owns the configuration of a gateway: what `wasmgate serve`
// accepts, what it means and what it defaults to.
//
// It is plain data with one check. It must not know flags (gateway/cli), nor
// what the values are used for (gateway/server).
package options

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/wasmgate/wasmgate/gateway/pki/kubeconfig"
)

// Serve is the configuration of one gateway.
type Serve struct {
	// EtcdServers are the client URLs of an existing etcd cluster; none means
	// an embedded etcd below DataDir.
	EtcdServers []string
	// EtcdPrefix is where all keys begin.
	EtcdPrefix string
	// EtcdCAFile verifies etcd; EtcdCertFile and EtcdKeyFile identify the
	// gateway to it.
	EtcdCAFile, EtcdCertFile, EtcdKeyFile string
	// EtcdCompactionInterval is how often history is compacted; 0 means never.
	EtcdCompactionInterval time.Duration
	// EmbeddedEtcdClientURL, if set, makes the embedded etcd listen for
	// clients there, without authentication.
	EmbeddedEtcdClientURL string
	// EmbeddedEtcdOpen lets that be an address that others than this machine's
	// processes reach.
	EmbeddedEtcdOpen bool
	// ShareWithKubeAPIServer serves a store that a kube-apiserver serves, too.
	ShareWithKubeAPIServer bool

	// DataDir holds everything the gateway keeps on disk.
	DataDir string

	// BindAddress is the IP address to listen on.
	BindAddress string
	// SecurePort is the port to listen on; 0 picks a free one.
	SecurePort int
	// TLSCertFile and TLSPrivateKeyFile are the operator's serving
	// certificate; none means one from the gateway's own authority.
	TLSCertFile, TLSPrivateKeyFile string

	// TokenAuthFile and ClientCAFile say whom to trust besides the
	// administrator of DataDir.
	TokenAuthFile, ClientCAFile string
	// ServiceAccountSigningKeyFile holds the private key that signs tokens of
	// service accounts; empty means one in DataDir. ServiceAccountKeyFiles hold
	// keys that only verify them.
	ServiceAccountSigningKeyFile string
	ServiceAccountKeyFiles       []string
	// ServiceAccountIssuers are whose tokens are believed; the first is who the
	// gateway's own say signed them.
	ServiceAccountIssuers []string
	// ServiceAccountMaxTokenExpiration is how long such a token lasts at most; 0
	// is no bound. ServiceAccountExtendTokenExpiration lets those last for a year
	// that pods get without asking.
	ServiceAccountMaxTokenExpiration    time.Duration
	ServiceAccountExtendTokenExpiration bool
	// WriteKubeconfig is where the administrator's kubeconfig is written;
	// empty means into DataDir.
	WriteKubeconfig string

	// EnableAdmissionPlugins and DisableAdmissionPlugins are the admission
	// plugins that are switched on and off.
	EnableAdmissionPlugins, DisableAdmissionPlugins []string
	// AuditLogPath is the file of the audit log, "-" for the standard output;
	// empty means none.
	AuditLogPath string
	// AuditLogMaxSize is how large it gets before another is begun, in megabytes,
	// and AuditLogMaxBackup how many of those before are kept; 0 is all.
	AuditLogMaxSize, AuditLogMaxBackup int

	// CertDir is where kube-apiserver has its serving certificate; see
	// [Serve.UseCertDir].
	CertDir string
	// AllowPrivileged, which has to be true, allows privileged containers.
	AllowPrivileged bool
	// AuthorizationModes are kube-apiserver's modes, which do nothing here.
	AuthorizationModes []string

	// Controllers are the built-in controllers that run, in kube-controller-manager's
	// syntax: "*", NAME, -NAME.
	Controllers []string

	// FeatureGates are settings such as CBORServingAndStorage=true.
	FeatureGates []string
	// RequestTimeout bounds every request but watches.
	RequestTimeout time.Duration
	// MinRequestTimeout is the least number of seconds that a watch without a
	// timeout of its own stays open.
	MinRequestTimeout int
	// MaxRequestBodyBytes is the largest request body, except for the content
	// of modules.
	MaxRequestBodyBytes int
	// MaxDecodingMemory is how much memory decoding the bodies of requests may take
	// at a time, in bytes; 0 means no bound. It is never less than what the largest
	// body can ask for.
	MaxDecodingMemory int64
	// MaxRequestsInFlight and MaxMutatingRequestsInFlight are how many requests that
	// only read, and that change something, may be under way; 0 means any number.
	MaxRequestsInFlight, MaxMutatingRequestsInFlight int
	// MaxWatchesPerUser is how many watches one user may have who is not in
	// system:masters; 0 means any number.
	MaxWatchesPerUser int
	// RuntimeConfig turns versions of built-in kinds on and off: KEY=true, KEY=false,
	// or KEY alone for true. Which keys there are is told by whoever has the kinds.
	RuntimeConfig []string
	// API is which built-in kinds are served: [WholeAPI] or [CustomAPI].
	API string
	// ServiceClusterIPRange are the addresses of services, as "10.0.0.0/24".
	ServiceClusterIPRange string
	// ServiceNodePortRange are the node ports, as "30000-32767".
	ServiceNodePortRange string
	// EventTTL is how long Events are kept.
	EventTTL time.Duration
	// ShutdownDelay is how long the gateway goes on serving after it has
	// become not ready.
	ShutdownDelay time.Duration

	// ViewCacheBytes bounds what is remembered for readers beside the objects
	// as they are stored; 0 means no bound.
	ViewCacheBytes int64
	// ModuleQuota bounds the contents of modules that are stored, in bytes; 0
	// means no bound.
	ModuleQuota int64
	// ModuleIdleMemory bounds the memory of instances of modules that are kept
	// for the next call, in bytes; 0 means no bound.
	ModuleIdleMemory int64
	// ModuleCompileMemory is how much memory the compilation of a module may
	// take, in bytes; 0 means no bound.
	ModuleCompileMemory int64
	// ModuleCompileTime is how much processor time it may take; 0 means no bound.
	ModuleCompileTime time.Duration
	// SafeMode starts without loading modules.
	SafeMode bool

	// Profiling serves /debug/pprof to whoever may do everything.
	Profiling bool

	// LogCheck is the health check "log"; nil means that it always passes. It
	// is set by whoever made the logger and has no flag.
	LogCheck func(context.Context) error
}

// The values of API.
const (
	// WholeAPI is the stable API of Kubernetes.
	WholeAPI = "all"
	// CustomAPI is what custom resources and their controllers need.
	CustomAPI = "crd"
)

// Started tells that a gateway is ready, and how to reach it.
type Started struct {
	// URL is the address of the API.
	URL string
	// Kubeconfig is the path of the administrator's kubeconfig.
	Kubeconfig string
	// DataDir is where the gateway keeps its files.
	DataDir string
	// Embedded tells that etcd runs in this process.
	Embedded bool
}

// Default returns the configuration of `wasmgate serve` without flags.
func Default() Serve {
	return Serve{
		Controllers:            []string{everyController},
		AllowPrivileged:        true,
		EtcdPrefix:             "/registry",
		EtcdCompactionInterval: 5 * time.Minute,
		DataDir:                "./" + kubeconfig.DefaultDataDir,
		BindAddress:            "127.0.0.1",
		SecurePort:             6443,
		RequestTimeout:         time.Minute,
		MinRequestTimeout:      1800,
		MaxRequestBodyBytes:    3 << 20,
		MaxDecodingMemory:      1 << 30,
		MaxRequestsInFlight:    400, MaxMutatingRequestsInFlight: 200,
		MaxWatchesPerUser:                   10_000,
		ServiceAccountIssuers:               []string{"https://kubernetes.default.svc"},
		ServiceAccountExtendTokenExpiration: true, Profiling: true,
		AuditLogMaxSize:       100,
		AuditLogMaxBackup:     10,
		ViewCacheBytes:        1 << 30,
		ModuleQuota:           1 << 30,
		ModuleIdleMemory:      512 << 20,
		ModuleCompileMemory:   1 << 30,
		ModuleCompileTime:     time.Minute,
		API:                   WholeAPI,
		ServiceClusterIPRange: "10.0.0.0/24",
		ServiceNodePortRange:  "30000-32767",
		EventTTL:              time.Hour,
	}
}

// leastViewCache is so much that objects are not gone through all the time to see
// what is remembered of them.
const leastViewCache = 16 << 20

// leastCompileMemory is enough for a small module in Go; half of it is the
// program's own.
const leastCompileMemory = 256 << 20

// Embedded tells that etcd is to run inside the gateway.
func (s Serve) Embedded() bool { return len(s.EtcdServers) == 0 }

// KubeconfigPath is where the administrator's kubeconfig goes.
func (s Serve) KubeconfigPath() string {
	if s.WriteKubeconfig != "" {
		return s.WriteKubeconfig
	}
	return filepath.Join(s.DataDir, kubeconfig.FileName)
}

// Runtime is RuntimeConfig by key. Of several settings the last counts.
func (s Serve) Runtime() (map[string]bool, error) {
	out := map[string]bool{}
	for _, setting := range s.RuntimeConfig {
		key, value, _ := strings.Cut(setting, "=")
		on, err := strconv.ParseBool(value)
		if value == "" {
			on, err = true, nil
		}
		if err != nil {
			return nil, fmt.Errorf("invalid value of %s: %s, it is true or false", key, value)
		}
		out[key] = on
	}
	if on, set := out["api/all"]; set && !on && len(out) == 1 {
		return nil, errors.New("invalid runtime-config with only api/all=false")
	}
	return out, nil
}

// ClusterIPs is ServiceClusterIPRange, which leaves room for some services.
func (s Serve) ClusterIPs() (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s.ServiceClusterIPRange)
	if err == nil && p.Addr().BitLen()-p.Bits() < 3 {
		err = fmt.Errorf("%s has fewer than 8 addresses", p)
	}
	return p.Masked(), err
}

// NodePorts are the first and the last port of ServiceNodePortRange.
func (s Serve) NodePorts() (first, last int64, err error) {
	from, to, ok := strings.Cut(s.ServiceNodePortRange, "-")
	if !ok {
		return 0, 0, fmt.Errorf("%q is not a range such as 30000-32767", s.ServiceNodePortRange)
	}
	if first, err = strconv.ParseInt(from, 10, 32); err == nil {
		last, err = strconv.ParseInt(to, 10, 32)
	}
	if err == nil && (first < 1 || last > 65535 || first > last) {
		err = fmt.Errorf("%q is no range of ports", s.ServiceNodePortRange)
	}
	return first, last, err
}

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
	for _, g := range s.FeatureGates {
		if err := gateError(g); err != nil {
			bad("feature-gates", "%v", err)
		}
	}
	if _, err := s.Runtime(); err != nil {
		bad("runtime-config", "%w", err)
	}
	s.validateAccounts(bad)
	if s.AuditLogMaxSize < 1 {
		bad("audit-log-maxsize", "must be greater than 0, got %d", s.AuditLogMaxSize)
	}
	if s.AuditLogMaxBackup < 0 {
		bad("audit-log-maxbackup", "must not be negative, got %d", s.AuditLogMaxBackup)
	}
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
	if _, err := s.ClusterIPs(); err != nil {
		bad("service-cluster-ip-range", "%w", err)
	}
	if _, _, err := s.NodePorts(); err != nil {
		bad("service-node-port-range", "%w", err)
	}
	if s.ShutdownDelay < 0 {
		bad("shutdown-delay-duration", "must not be negative, got %s", s.ShutdownDelay)
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
	} {
		if n < 0 {
			bad(flag, "must not be negative, got %d", n)
		}
	}
	if s.MaxDecodingMemory < 0 {
		bad("max-decoding-memory", "must not be negative, got %d", s.MaxDecodingMemory)
	}
}

func (s Serve) validateEtcd(bad func(flag, format string, args ...any)) {
	for _, server := range s.EtcdServers {
		if !isURL(server) {
			bad("etcd-servers", "%q is not a URL such as http://127.0.0.1:2379", server)
		}
	}
	if !strings.HasPrefix(s.EtcdPrefix, "/") || len(s.EtcdPrefix) < 2 || strings.HasSuffix(s.EtcdPrefix, "/") {
		bad("etcd-prefix", "must begin with a slash, end without one and name something, got %q", s.EtcdPrefix)
	}
	if s.EtcdCompactionInterval < 0 {
		bad("etcd-compaction-interval", "must not be negative, got %s", s.EtcdCompactionInterval)
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
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
