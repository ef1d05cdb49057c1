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
	"net/netip"
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
	// EtcdHealthcheckTimeout and EtcdReadycheckTimeout are how long etcd may take to answer
	// the checks of /livez and of /readyz.
	EtcdHealthcheckTimeout, EtcdReadycheckTimeout time.Duration
	// ShareWithKubeAPIServer serves a store that a kube-apiserver serves, too.
	ShareWithKubeAPIServer bool

	// EncryptionProviderConfig is the file that says how values in etcd are
	// encrypted; empty means that they are not.
	// EncryptionProviderConfigAutomaticReload has its changes come into force.
	EncryptionProviderConfig                string
	EncryptionProviderConfigAutomaticReload bool

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
	// Authentication is whose tokens are believed besides.
	Authentication Authentication
	ClusterSigning ClusterSigning
	// ServiceAccountSigningKeyFile holds the private key that signs tokens of
	// service accounts; empty means one in DataDir. ServiceAccountKeyFiles hold
	// keys that only verify them.
	ServiceAccountSigningKeyFile string
	ServiceAccountKeyFiles       []string
	// ServiceAccountIssuers are whose tokens are believed; the first is who the
	// gateway's own say signed them.
	ServiceAccountIssuers []string
	// APIAudiences are whom tokens for this API are for; none are the issuers.
	APIAudiences []string
	// ServiceAccountJWKSURI is where others read the keys that verify tokens; "" is
	// this gateway.
	ServiceAccountJWKSURI string
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
	// AdmissionControlConfigFile says which plugins have folders of what no request
	// changes; "" is none.
	AdmissionControlConfigFile string
	// Audit is what is kept of requests.
	Audit Audit

	// TLS is how connections are secured.
	TLS TLS
	// Clients is what is done for some of them.
	Clients Clients
	// CertDir is where kube-apiserver has its serving certificate; see
	// [Serve.UseCertDir].
	CertDir string
	// AllowPrivileged, which has to be true, allows privileged containers.
	AllowPrivileged bool
	// AnonymousAuth lets requests without credentials in; see [Serve.AllowsAnonymous].
	AnonymousAuth bool
	// AuthorizationModes are who is asked, after administrators, whether requests are
	// allowed: [RBAC], [Webhook], [AlwaysAllow], [AlwaysDeny].
	AuthorizationModes []string
	Authorization      Authorization

	// Controllers are the built-in controllers that run, in kube-controller-manager's
	// syntax: "*", NAME, -NAME.
	Controllers []string

	// FeatureGates are settings such as CBORServingAndStorage=true.
	FeatureGates []string
	// EmulatedVersion is the release of Kubernetes whose versions and features there
	// are; the current one if empty.
	EmulatedVersion string
	// DeleteCollectionWorkers is how many objects of a collection are deleted at a time.
	DeleteCollectionWorkers int
	// NotReadySeconds and UnreachableSeconds are how long pods stay on such a node that do
	// not say so.
	NotReadySeconds, UnreachableSeconds int64
	// ContentionProfiling has profiles tell who waits for locks.
	ContentionProfiling bool
	// DisabledMetrics are names of metrics that are not shown.
	DisabledMetrics []string
	// InertSet are the [Inerts] that were given.
	InertSet []string
	// ShowHiddenMetricsForVersion is the previous release, to see metrics that are
	// about to go, or empty.
	ShowHiddenMetricsForVersion string
	// RequestTimeout bounds every request but watches.
	RequestTimeout time.Duration
	// MinRequestTimeout is the least number of seconds that a watch without a
	// timeout of its own stays open.
	MinRequestTimeout int
	// MaxRequestBodyBytes is the largest request body, except for the content
	// of modules.
	MaxRequestBodyBytes int
	// MemoryBudget is how much memory the process may take, in bytes; 0 means what its
	// control group, or the machine, has.
	MemoryBudget int64
	// MaxDecodingMemory is how much memory decoding the bodies of requests may take
	// at a time, in bytes; 0 means no bound. It is never less than what the largest
	// body can ask for.
	MaxDecodingMemory int64
	// MaxRequestsInFlight and MaxMutatingRequestsInFlight are how many requests that
	// only read, and that change something, may be under way; 0 means any number.
	MaxRequestsInFlight, MaxMutatingRequestsInFlight int
	// PriorityAndFairness has requests wait for each other as FlowSchemas say, for as
	// many seats as both make together.
	PriorityAndFairness bool
	// MaxWatchesPerUser is how many watches one user may have who is not in
	// system:masters; 0 means any number.
	MaxWatchesPerUser int
	// MaxConnectionsPerUser is how many connections one user may have open who is not in
	// system:masters, and MaxConnectionsPerAddress how many one address may have on which
	// nobody was identified; 0 means any number.
	MaxConnectionsPerUser, MaxConnectionsPerAddress int
	// RuntimeConfig turns versions of built-in kinds on and off: KEY=true, KEY=false,
	// or KEY alone for true. Which keys there are is told by whoever has the kinds.
	RuntimeConfig []string
	// API is which built-in kinds are served: [WholeAPI] or [CustomAPI].
	API string
	// Proxy is what becomes of requests between servers.
	Proxy Proxy
	// AdvertiseAddress is where others reach the gateway, as the service of the API
	// says; "" is BindAddress, or an address of the machine where that is no other's.
	AdvertiseAddress string
	// ServiceClusterIPRange are the addresses of services, as "10.0.0.0/24", or
	// "10.0.0.0/16,fd00::/112" for those of two families.
	ServiceClusterIPRange string
	// ServiceNodePortRange are the node ports, as "30000-32767".
	ServiceNodePortRange string
	// EventTTL is how long Events are kept.
	EventTTL time.Duration
	// LivezGracePeriod is how long livez counts a start as going well.
	LivezGracePeriod time.Duration
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
	// ModuleFailedCalls is how much memory keeps calls of modules that failed, in bytes;
	// 0 keeps none.
	ModuleFailedCalls int64
	// ModuleTrustFile has ModuleTrusts that are in force beside those of the API; "" is
	// none.
	ModuleTrustFile string
	// ModuleRegistriesFile says how registries of modules are reached; "" is nothing.
	ModuleRegistriesFile string
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
		AnonymousAuth:          true,
		AuthorizationModes:     []string{RBAC},
		Authentication:         defaultAuthentication(),
		ClusterSigning:         ClusterSigning{Duration: 365 * 24 * time.Hour},
		Authorization:          defaultAuthorization(),
		EtcdPrefix:             "/registry",
		EtcdCompactionInterval: 5 * time.Minute,
		EtcdHealthcheckTimeout: 2 * time.Second, EtcdReadycheckTimeout: 2 * time.Second,
		DeleteCollectionWorkers: 8, NotReadySeconds: 300, UnreachableSeconds: 300,
		DataDir:             "./" + kubeconfig.DefaultDataDir,
		BindAddress:         "127.0.0.1",
		SecurePort:          6443,
		RequestTimeout:      time.Minute,
		MinRequestTimeout:   1800,
		MaxRequestBodyBytes: 3 << 20,
		MaxDecodingMemory:   1 << 30,
		MaxRequestsInFlight: 400, MaxMutatingRequestsInFlight: 200, PriorityAndFairness: true,
		MaxWatchesPerUser:                   10_000,
		MaxConnectionsPerUser:               20_000,
		MaxConnectionsPerAddress:            10_000,
		ServiceAccountIssuers:               []string{"https://kubernetes.default.svc"},
		ServiceAccountExtendTokenExpiration: true, Profiling: true,
		Audit:               defaultAudit(),
		ViewCacheBytes:      1 << 30,
		ModuleQuota:         1 << 30,
		ModuleIdleMemory:    512 << 20,
		ModuleCompileMemory: 1 << 30,
		ModuleCompileTime:   time.Minute,
		API:                 WholeAPI,
		Proxy: Proxy{
			UsernameHeaders: []string{"X-Remote-User"}, UIDHeaders: []string{"X-Remote-Uid"}, GroupHeaders: []string{"X-Remote-Group"},
			ExtraHeaderPrefixes: []string{"X-Remote-Extra-"},
		},
		ServiceClusterIPRange: "10.0.0.0/24",
		ServiceNodePortRange:  "30000-32767",
		EventTTL:              time.Hour,
	}
}

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

// ClusterIPs is ServiceClusterIPRange: one range, or one for each family, which leave room
// for some services.
func (s Serve) ClusterIPs() (all []netip.Prefix, err error) {
	for text := range strings.SplitSeq(s.ServiceClusterIPRange, ",") {
		p, err := netip.ParsePrefix(text)
		switch {
		case err != nil:
			return nil, err
		case p.Addr().BitLen()-p.Bits() < 3:
			return nil, fmt.Errorf("%s has fewer than 8 addresses", p)
		case len(all) == 2:
			return nil, fmt.Errorf("%s has more than two entries", s.ServiceClusterIPRange)
		case len(all) == 1 && all[0].Addr().BitLen() == p.Addr().BitLen():
			return nil, fmt.Errorf("the ranges of %s must be of different IP family", s.ServiceClusterIPRange)
		}
		all = append(all, p.Masked())
	}
	return all, nil
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
