package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/gateway/cli/headroom"
	"github.com/wasmgate/wasmgate/gateway/health"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/lifecycle"
)

// logOptions are the flags about logging.
type logOptions struct {
	verbosity int
	format    string
}

func newServe(run Runner) *cobra.Command {
	o := options.Default()
	var l logOptions
	cmd := &cobra.Command{
		Use:   "serve [flags]",
		Short: "Run the gateway",
		Long: "Run the gateway. Without flags it keeps its data in an embedded etcd below\n" +
			"./wasmgate-data, serves on 127.0.0.1:6443 with a certificate of its own\n" +
			"authority, and writes a kubeconfig for the administrator.",
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := fromEnv(cmd.Flags()); err != nil {
				return err
			}
			o.EtcdPrefix = options.EtcdPrefix(o.EtcdPrefix)
			for i, setting := range o.FeatureGates {
				o.FeatureGates[i] = strings.TrimPrefix(setting, "kube:") // the component, as kube-apiserver has it
			}
			if err := o.UseCertDir(cmd.Flags().Changed("data-dir")); err != nil {
				return mistake{err}
			}
			o.Authorization.FlagsSet = authorizationSet(cmd.Flags())
			o.Authentication.AnonymousAuthSet = cmd.Flags().Changed("anonymous-auth")
			out := health.NewLogWriter(cmd.ErrOrStderr())
			log, err := l.begin(errors.Join(o.Validate(), lookForFiles(cmd.Flags(), o.DataDir)), out)
			if err != nil {
				return err
			}
			o.LogCheck = out.Check
			defer headroom.Follow()()
			return run(cmd.Context(), o, log, func(s options.Started) { printStarted(cmd.OutOrStdout(), s) })
		},
	}
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "logging-format" { // kube-apiserver's name
			name = "log-format"
		}
		return pflag.NormalizedName(name)
	})
	cmd.Version = lifecycle.GitVersion
	cmd.SetVersionTemplate("Kubernetes {{.Version}}\n")
	addGroups(cmd, etcdFlags(&o), servingFlags(&o), accessFlags(&o), authenticationFlags(&o.Authentication), authorizationFlags(&o), lifetimeFlags(&o), logFlags(&l), auditFlags(&o.Audit), proxyFlags(&o.Proxy), inertFlags(&o))
	return cmd
}

func etcdFlags(o *options.Serve) flagGroup {
	f := newGroup("Storage")
	f.StringVar(&o.DataDir, "data-dir", o.DataDir, "`directory` for everything the gateway keeps on disk")
	f.StringSliceVar(&o.EtcdServers, "etcd-servers", nil, "client `URLs` of an existing etcd cluster, comma-separated; without it etcd runs inside the gateway")
	f.StringVar(&o.EtcdPrefix, "etcd-prefix", o.EtcdPrefix, "the `prefix` of all keys in etcd; its leading slash may be left out")
	f.StringVar(&o.EtcdCAFile, "etcd-cafile", "", "PEM `file` with the authorities that verify etcd")
	f.StringVar(&o.EtcdCertFile, "etcd-certfile", "", "PEM `file` with the client certificate for etcd")
	f.StringVar(&o.EtcdKeyFile, "etcd-keyfile", "", "PEM `file` with the private key of --etcd-certfile")
	f.StringVar(&o.EncryptionProviderConfig, "encryption-provider-config", "", "`file` with an EncryptionConfiguration: which objects are encrypted in etcd, and with which keys")
	f.BoolVar(&o.EncryptionProviderConfigAutomaticReload, "encryption-provider-config-automatic-reload", false, "apply changes of --encryption-provider-config without a restart, and have /readyz check its key services")
	f.DurationVar(&o.EtcdCompactionInterval, "etcd-compaction-interval", o.EtcdCompactionInterval, "how often the history in etcd is compacted; 0 means never")
	f.DurationVar(&o.EtcdHealthcheckTimeout, "etcd-healthcheck-timeout", o.EtcdHealthcheckTimeout, "how long /livez waits for an answer of etcd before it fails")
	f.DurationVar(&o.EtcdReadycheckTimeout, "etcd-readycheck-timeout", o.EtcdReadycheckTimeout, "how long /readyz waits for an answer of etcd before it fails")
	f.StringVar(&o.EmbeddedEtcdClientURL, "embedded-etcd-client-url", "", "`URL` on which the embedded etcd listens for clients such as etcdctl, without authentication; for debugging")
	f.BoolVar(&o.EmbeddedEtcdOpen, "embedded-etcd-open", false, "allow an address in --embedded-etcd-client-url that is not loopback: anyone who can reach it can read and change everything")
	f.BoolVar(&o.ShareWithKubeAPIServer, "share-with-kube-apiserver", false, "start although a running kube-apiserver serves the same store")
	return f
}

func servingFlags(o *options.Serve) flagGroup {
	f := newGroup("Serving")
	f.StringVar(&o.BindAddress, "bind-address", o.BindAddress, "IP `address` to listen on; 0.0.0.0 means all")
	f.IntVar(&o.SecurePort, "secure-port", o.SecurePort, "`port` to listen on; 0 picks a free one and prints it")
	f.StringVar(&o.API, "api", o.API, "which built-in `kinds` are served: every stable kind, or with crd only the kinds that custom resources need")
	f.StringSliceVar(&o.RuntimeConfig, "runtime-config", nil, "`KEY=true` or false, comma-separated: which versions of built-in kinds are served, with the keys api/all, api/ga, api/beta, api/alpha, GROUP/VERSION or GROUP/VERSION/PLURAL. A key without a value means true. By default stable versions are served")
	f.StringVar(&o.AdvertiseAddress, "advertise-address", o.AdvertiseAddress, "`IP` address at which clients reach this gateway, put into the endpoints of the service kubernetes (default --bind-address, or an address of the machine)")
	f.StringVar(&o.ServiceClusterIPRange, "service-cluster-ip-range", o.ServiceClusterIPRange, "`CIDR` of the addresses for services, or two CIDRs, one for IPv4 and one for IPv6, comma-separated; services that name no family use the first")
	f.StringVar(&o.ServiceNodePortRange, "service-node-port-range", o.ServiceNodePortRange, "the range of ports for services of type NodePort, as `first-last`")
	f.StringVar(&o.TLSCertFile, "tls-cert-file", "", "PEM `file` with the serving certificate and its chain; without it the gateway's own authority issues one")
	f.StringVar(&o.CertDir, "cert-dir", "", "`directory` with apiserver.crt and apiserver.key, which are used if they exist and --tls-cert-file is not set; the default of --data-dir is then below it")
	f.StringVar(&o.TLSPrivateKeyFile, "tls-private-key-file", "", "PEM `file` with the private key of --tls-cert-file")
	f.StringVar(&o.TLS.MinVersion, "tls-min-version", "", "the minimum TLS `version`, "+strings.Join(options.TLSVersions(), " or ")+" (default VersionTLS12)")
	f.StringSliceVar(&o.TLS.CipherSuites, "tls-cipher-suites", nil, "`names` of the allowed cipher suites of TLS 1.2, comma-separated; the suites of TLS 1.3 cannot be chosen. Secure ones: "+strings.Join(options.CipherSuites(), ", "))
	f.Int32SliceVar(&o.TLS.Curves, "tls-curve-preferences", nil, "`numbers` of the allowed key exchanges, comma-separated, as in Go's crypto/tls (CurveID): 23 is P-256, 24 P-384, 25 P-521, 29 X25519, 4588 X25519MLKEM768. Go chooses their order (default Go's own list)")
	f.Lookup("tls-curve-preferences").DefValue = "" // else pflag adds a second default, []
	f.StringArrayVar(&o.TLS.Named, "tls-sni-cert-key", nil, "`CERT,KEY[:NAMES]`: PEM files with a certificate and its key, and the comma-separated names for which clients get it; a name may begin with *. or be an IP address. Without NAMES the names in the certificate count. May be set more than once. An exact name wins over one with a *, then NAMES over the names in a certificate, then the flag that comes first. Examples: example.crt,example.key and foo.crt,foo.key:*.foo.com,foo.com")
	f.StringSliceVar(&o.Clients.AllowedOrigins, "cors-allowed-origins", nil, "`expressions` for the origins that browsers may send requests from (CORS), comma-separated: regular expressions with ^ or // before the host and $ or : after it, such as //example\\.com(:|$); by default no CORS headers are sent")
	f.Float64Var(&o.Clients.GoawayChance, "goaway-chance", 0, "the `fraction` of replies after which the connection is closed, so that clients behind a load balancer move to other gateways: from 0 (never) to 0.02; 0.001 is a good start. Leave it at 0 for a single gateway")
	f.StringSliceVar(&o.TLS.StrictTransport, "strict-transport-security-directives", nil, "`directives` of the header Strict-Transport-Security, comma-separated, such as max-age=31536000,includeSubDomains,preload; by default the header is not sent")
	f.BoolVar(&o.Profiling, "profiling", o.Profiling, "serve profiles at /debug/pprof to members of system:masters")
	f.BoolVar(&o.ContentionProfiling, "contention-profiling", false, "add a profile of waiting for locks, which slows the gateway down")
	f.DurationVar(&o.RequestTimeout, "request-timeout", o.RequestTimeout, "how long a request other than a watch may take")
	f.IntVar(&o.MinRequestTimeout, "min-request-timeout", o.MinRequestTimeout, "the minimum number of `seconds` that a watch stays open if the client sets no timeout")
	f.StringSliceVar(&o.FeatureGates, "feature-gates", nil, "`NAME=true` or false, comma-separated:\n"+options.GateUsage())
	f.StringVar(&o.EmulatedVersion, "emulated-version", "", "the `release` of Kubernetes whose API versions and feature gates are served, such as "+lifecycle.Oldest.String()+" or kube="+lifecycle.Oldest.String()+" (default "+lifecycle.Current.String()+")")
	f.StringVar(&o.ShowHiddenMetricsForVersion, "show-hidden-metrics-for-version", "", "show metrics that were hidden in this release; the only accepted value is the previous `release`")
	f.StringSliceVar(&o.DisabledMetrics, "disabled-metrics", nil, "`names` of metrics to leave out, comma-separated")
	f.IntVar(&o.DeleteCollectionWorkers, "delete-collection-workers", o.DeleteCollectionWorkers, "how `many` objects of a deleted collection are deleted in parallel")
	f.Int64Var(&o.NotReadySeconds, "default-not-ready-toleration-seconds", o.NotReadySeconds, "for how many `seconds` pods tolerate a node that is not ready, unless the pod says otherwise (plugin DefaultTolerationSeconds)")
	f.Int64Var(&o.UnreachableSeconds, "default-unreachable-toleration-seconds", o.UnreachableSeconds, "for how many `seconds` pods tolerate a node that is unreachable, unless the pod says otherwise (same plugin)")
	f.StringSliceVar(&o.EnableAdmissionPlugins, "enable-admission-plugins", nil, "admission `plugins` to switch on, comma-separated; known: "+options.Plugins())
	f.StringSliceVar(&o.DisableAdmissionPlugins, "disable-admission-plugins", nil, "admission `plugins` to switch off, comma-separated")
	f.StringVar(&o.AdmissionControlConfigFile, "admission-control-config-file", "", "`file` with an AdmissionConfiguration: the folders with policies, webhook configurations and modules that no request can change. Changed files are applied without a restart")
	f.StringSliceVar(&o.Controllers, "controllers", o.Controllers, "the `controllers` to run, comma-separated, as for kube-controller-manager: '*' for all, NAME for one, -NAME to leave one out; known: "+options.Controllers())
	f.Int64Var(&o.ViewCacheBytes, "view-cache", o.ViewCacheBytes, "how many `bytes` of memory cache objects at other versions, in other encodings and compressed; 0 means no limit")
	f.IntVar(&o.MaxRequestBodyBytes, "max-request-body", o.MaxRequestBodyBytes, "the largest request body in `bytes`; the content of modules has a limit of its own")
	f.IntVar(&o.MaxRequestsInFlight, "max-requests-inflight", o.MaxRequestsInFlight, "how `many` read requests may run at a time; 0 means no limit. With --enable-priority-and-fairness the sum of this and --max-mutating-requests-inflight is the number of seats")
	f.IntVar(&o.MaxMutatingRequestsInFlight, "max-mutating-requests-inflight", o.MaxMutatingRequestsInFlight, "how `many` write requests may run at a time; 0 means no limit")
	f.BoolVar(&o.PriorityAndFairness, "enable-priority-and-fairness", o.PriorityAndFairness, "queue requests as FlowSchemas and PriorityLevelConfigurations say; if false, one user gets at most half of the requests that may run at a time")
	f.IntVar(&o.MaxWatchesPerUser, "max-watches-per-user", o.MaxWatchesPerUser, "how `many` watches a user outside system:masters may have; 0 means no limit")
	f.IntVar(&o.MaxConnectionsPerUser, "max-connections-per-user", o.MaxConnectionsPerUser, "how `many` open connections a user outside system:masters may have; 0 means no limit")
	f.IntVar(&o.MaxConnectionsPerAddress, "max-connections-per-address", o.MaxConnectionsPerAddress, "how `many` open connections a client address may have on which no user was identified yet; 0 means no limit")
	f.Int64Var(&o.MemoryBudget, "memory-budget", 0, "how many `bytes` of memory the gateway may use; 0 means the limit of its control group (cgroup), or else the memory of the machine")
	f.Int64Var(&o.MaxDecodingMemory, "max-decoding-memory", o.MaxDecodingMemory, "how many `bytes` of memory the decoding of request bodies may use at a time, but always enough for one body of the largest size; 0 means no limit")
	return f
}

func accessFlags(o *options.Serve) flagGroup {
	f := newGroup("Access")
	f.StringVar(&o.TokenAuthFile, "token-auth-file", "", "CSV `file` of bearer tokens: token,user,uid,\"group1,group2\"")
	f.StringVar(&o.ClientCAFile, "client-ca-file", "", "PEM `file` with the authorities of client certificates")
	f.StringVar(&o.ClusterSigning.CertFile, "cluster-signing-cert-file", "", "PEM `file` with the certificate of the authority that signs client certificates (CertificateSigningRequests of kubernetes.io/kube-apiserver-client); the gateway accepts these certificates (default clients/ca.crt in --data-dir)")
	f.StringVar(&o.ClusterSigning.KeyFile, "cluster-signing-key-file", "", "PEM `file` with the private key of --cluster-signing-cert-file")
	f.DurationVar(&o.ClusterSigning.Duration, "cluster-signing-duration", o.ClusterSigning.Duration, "how long a signed client certificate is valid, unless the request asks for less")
	f.StringVar(&o.ServiceAccountSigningKeyFile, "service-account-signing-key-file", "", "PEM `file` with the private key that signs tokens of service accounts (default sa.key in --data-dir)")
	f.StringArrayVar(&o.ServiceAccountKeyFiles, "service-account-key-file", nil, "PEM `file` with more keys that verify tokens of service accounts: public keys, private keys or certificates; may be set more than once")
	f.StringArrayVar(&o.ServiceAccountIssuers, "service-account-issuer", o.ServiceAccountIssuers, "`issuer` of tokens of service accounts, and their audience unless --api-audiences is set; may be set more than once: new tokens name the first, tokens of all are accepted")
	f.StringSliceVar(&o.APIAudiences, "api-audiences", nil, "`audiences` of this API, comma-separated: tokens with one of them are accepted, and tokens that are requested without an audience get them (default every --service-account-issuer)")
	f.StringVar(&o.ServiceAccountJWKSURI, "service-account-jwks-uri", "", "https `URL` of the keys that verify tokens of service accounts, published in /.well-known/openid-configuration (default this gateway's /openid/v1/jwks)")
	f.DurationVar(&o.ServiceAccountMaxTokenExpiration, "service-account-max-token-expiration", 0, "the longest lifetime of a token of a service account; a request for more gets this lifetime and a warning; 0 means 2^32 seconds")
	f.BoolVar(&o.ServiceAccountExtendTokenExpiration, "service-account-extend-token-expiration", o.ServiceAccountExtendTokenExpiration, "make tokens that kubelets mount into pods valid for a year, for programs that never read the file again")
	f.BoolVar(&o.AllowPrivileged, "allow-privileged", o.AllowPrivileged, "must be true: pods may have privileged containers")
	f.BoolVar(&o.AnonymousAuth, "anonymous-auth", o.AnonymousAuth, "accept requests without credentials as system:anonymous, of the group system:unauthenticated; not possible with the authorization mode AlwaysAllow")
	f.StringVar(&o.ModuleRegistriesFile, "module-registries-file", "", "YAML `file` that says how registries of modules are reached: certificate authorities, client certificates and mirrors")
	f.StringVar(&o.ModuleTrustFile, "module-trust-file", "", "YAML `file` of ModuleTrusts, which say whose signatures modules need; they apply in addition to the ModuleTrusts of the API")
	f.StringVar(&o.WriteKubeconfig, "write-kubeconfig", "", "`file` for the administrator's kubeconfig (default admin.kubeconfig in --data-dir)")
	return f
}

func lifetimeFlags(o *options.Serve) flagGroup {
	f := newGroup("Lifetimes")
	f.DurationVar(&o.EventTTL, "event-ttl", o.EventTTL, "how long Events are kept")
	f.Int64Var(&o.ModuleQuota, "module-quota", o.ModuleQuota, "how many `bytes` all stored modules may have together; 0 means no limit")
	moduleMemory(f, &o.ModuleIdleMemory, &o.ModuleCompileMemory, &o.ModuleCompileTime)
	f.Int64Var(&o.ModuleFailedCalls, "module-failed-calls", 0, "how many `bytes` of memory keep failed calls of modules with their requests, for wasmgate module replay; by default none are kept, because requests hold data of tenants")
	f.BoolVar(&o.SafeMode, "safe-mode", false, "load no modules: requests that need a module fail, all others work")
	f.DurationVar(&o.LivezGracePeriod, "livez-grace-period", 0, "how long the start may take before /livez fails")
	f.DurationVar(&o.ShutdownDelay, "shutdown-delay-duration", o.ShutdownDelay, "how long the gateway goes on serving after SIGTERM, while /readyz already fails")
	return f
}

func logFlags(l *logOptions) flagGroup {
	f := newGroup("Logging")
	f.IntVarP(&l.verbosity, "v", "v", 0, "log verbosity: 0 normal, 4 debug, 6 trace")
	f.StringVar(&l.format, "log-format", "text", "text or json; --logging-format is another name of this flag")
	return f
}

// begin returns the log of a server, unless something is wrong with its flags.
func (l logOptions) begin(wrong error, out io.Writer) (zerolog.Logger, error) {
	log, err := l.logger(out)
	if wrong = errors.Join(wrong, err); wrong != nil {
		return zerolog.Nop(), mistake{fmt.Errorf("the configuration is not valid:\n%w", wrong)}
	}
	quietLibraries(log)
	return log, nil
}

func (l logOptions) logger(out io.Writer) (zerolog.Logger, error) {
	out = redacting{out}
	level := zerolog.InfoLevel
	switch {
	case l.verbosity >= 6:
		level = zerolog.TraceLevel
	case l.verbosity >= 4:
		level = zerolog.DebugLevel
	}
	switch l.format {
	case "json":
	case "text":
		out = zerolog.ConsoleWriter{Out: out, NoColor: true, TimeFormat: logTime}
	default:
		return zerolog.Nop(), fmt.Errorf("--log-format: want text or json, got %q", l.format)
	}
	stamp := zerolog.HookFunc(func(e *zerolog.Event, _ zerolog.Level, _ string) {
		e.Str(zerolog.TimestampFieldName, time.Now().Format(logTime))
	})
	return zerolog.New(out).Level(level).Hook(stamp), nil
}

// redacting writes lines without what URLs in them tell of credentials: whichever part or
// library logs one, of a configuration or of a failed call.
type redacting struct{ to io.Writer }

// Write implements [io.Writer].
func (r redacting) Write(line []byte) (int, error) {
	if _, err := io.WriteString(r.to, excerpt.Redacted(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}

// logTime is the form of times in the log: lines of one request are less than a
// second apart, and a log lasts for days.
const logTime = "2006-01-02T15:04:05.000Z07:00"

// printStarted says what to type next.
func printStarted(out io.Writer, s options.Started) {
	store := "an existing etcd"
	if s.Embedded {
		store = "embedded etcd in " + s.DataDir
	}
	path, err := filepath.Abs(s.Kubeconfig)
	if err != nil {
		path = s.Kubeconfig
	}
	fmt.Fprintf(out, `wasmgate serves %s (%s)

Next, in another terminal:
  export KUBECONFIG=%s
  kubectl api-resources
  kubectl create namespace demo
  %s module push NAME FILE.wasm
`, s.URL, store, shellQuote(path), called())
}

// called is how this program is run again from the same folder.
func called() string {
	typed := os.Args[0]
	self, err := os.Executable()
	if err != nil || strings.Contains(self, string(filepath.Separator)+"go-build") { // of go run, gone when it ends
		return "go run ."
	}
	return shellQuote(typed)
}
