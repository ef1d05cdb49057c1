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
	f.StringVar(&o.EtcdPrefix, "etcd-prefix", o.EtcdPrefix, "where all keys in etcd begin; a slash at its beginning may be left out")
	f.StringVar(&o.EtcdCAFile, "etcd-cafile", "", "PEM `file` with the authorities that verify etcd")
	f.StringVar(&o.EtcdCertFile, "etcd-certfile", "", "PEM `file` with the client certificate for etcd")
	f.StringVar(&o.EtcdKeyFile, "etcd-keyfile", "", "PEM `file` with the private key of --etcd-certfile")
	f.StringVar(&o.EncryptionProviderConfig, "encryption-provider-config", "", "`file` with an EncryptionConfiguration: which objects are encrypted in etcd, and with which keys")
	f.BoolVar(&o.EncryptionProviderConfigAutomaticReload, "encryption-provider-config-automatic-reload", false, "let changes of that file come into force, and /readyz tell whether its key services are well")
	f.DurationVar(&o.EtcdCompactionInterval, "etcd-compaction-interval", o.EtcdCompactionInterval, "how often the history in etcd is compacted; 0 means never")
	f.DurationVar(&o.EtcdHealthcheckTimeout, "etcd-healthcheck-timeout", o.EtcdHealthcheckTimeout, "how long etcd may take to answer until /livez tells that it does not")
	f.DurationVar(&o.EtcdReadycheckTimeout, "etcd-readycheck-timeout", o.EtcdReadycheckTimeout, "the same for /readyz")
	f.StringVar(&o.EmbeddedEtcdClientURL, "embedded-etcd-client-url", "", "`URL` on which the embedded etcd listens for clients such as etcdctl, without authentication; for debugging")
	f.BoolVar(&o.EmbeddedEtcdOpen, "embedded-etcd-open", false, "let --embedded-etcd-client-url be no loopback address: whoever reaches it can read and change everything")
	f.BoolVar(&o.ShareWithKubeAPIServer, "share-with-kube-apiserver", false, "serve a store that a running kube-apiserver serves, too")
	return f
}

func servingFlags(o *options.Serve) flagGroup {
	f := newGroup("Serving")
	f.StringVar(&o.BindAddress, "bind-address", o.BindAddress, "IP `address` to listen on; 0.0.0.0 means all")
	f.IntVar(&o.SecurePort, "secure-port", o.SecurePort, "`port` to listen on; 0 picks a free one and prints it")
	f.StringVar(&o.API, "api", o.API, "which built-in `kinds` are served: all that are stable, or with crd those that custom resources need")
	f.StringSliceVar(&o.RuntimeConfig, "runtime-config", nil, "`KEY=true` or false, comma-separated: which versions of built-in kinds are served, by api/all, api/ga, api/beta, api/alpha, GROUP/VERSION or GROUP/VERSION/PLURAL; without a value true. What is stable is by default")
	f.StringVar(&o.AdvertiseAddress, "advertise-address", o.AdvertiseAddress, "`IP` by which others reach this gateway, in the endpoints of the service kubernetes; empty is --bind-address, or an address of the machine")
	f.StringVar(&o.ServiceClusterIPRange, "service-cluster-ip-range", o.ServiceClusterIPRange, "`CIDR` of the addresses that services get, or two of different families, comma-separated, of which the first is for those that ask for none")
	f.StringVar(&o.ServiceNodePortRange, "service-node-port-range", o.ServiceNodePortRange, "the ports that services of type NodePort get, `first-last`")
	f.StringVar(&o.TLSCertFile, "tls-cert-file", "", "PEM `file` with the serving certificate and its chain; without it the gateway's own authority issues one")
	f.StringVar(&o.CertDir, "cert-dir", "", "`directory` with apiserver.crt and apiserver.key, if they are there, for where --tls-cert-file is not given; --data-dir is by default below it")
	f.StringVar(&o.TLSPrivateKeyFile, "tls-private-key-file", "", "PEM `file` with the private key of --tls-cert-file")
	f.StringVar(&o.TLS.MinVersion, "tls-min-version", "", "the least `version` of TLS that is spoken, "+strings.Join(options.TLSVersions(), " or ")+" (default VersionTLS12)")
	f.StringSliceVar(&o.TLS.CipherSuites, "tls-cipher-suites", nil, "`names` of the cipher suites that are used of TLS 1.2, comma-separated; those of TLS 1.3 cannot be chosen. Safe are "+strings.Join(options.CipherSuites(), ", "))
	f.Int32SliceVar(&o.TLS.Curves, "tls-curve-preferences", nil, "`numbers` of the key exchanges that are used, comma-separated, as Go's crypto/tls has them (CurveID): 23 is P-256, 24 P-384, 25 P-521, 29 X25519, 4588 X25519MLKEM768. Go has the order, and its own choice without them")
	f.StringArrayVar(&o.TLS.Named, "tls-sni-cert-key", nil, "`CERT,KEY[:NAMES]`: PEM files with a certificate and its key for clients that ask for a name, and the names, comma-separated, which may begin with *. or be IP addresses; without any those of the certificate. May be given more than once; names that are the same before those with a *, given ones before a certificate's own, then the first. Examples: example.crt,example.key and foo.crt,foo.key:*.foo.com,foo.com")
	f.StringSliceVar(&o.Clients.AllowedOrigins, "cors-allowed-origins", nil, "`expressions` of origins whose pages may send requests from browsers (CORS), comma-separated: regular expressions with ^ or // where a host begins, and $ or : where it ends, such as //example\\.com(:|$); without any there are no such headers")
	f.Float64Var(&o.Clients.GoawayChance, "goaway-chance", 0, "the `fraction` of replies that close their connection, so that clients do not stay with one gateway behind a load balancer: from 0, which is never, to 0.02; 0.001 is a good beginning. A gateway that is alone should have none")
	f.StringSliceVar(&o.TLS.StrictTransport, "strict-transport-security-directives", nil, "`directives` of the header Strict-Transport-Security of all replies, comma-separated, such as max-age=31536000,includeSubDomains,preload; without any there is no such header")
	f.BoolVar(&o.Profiling, "profiling", o.Profiling, "serve profiles at /debug/pprof to members of system:masters")
	f.BoolVar(&o.ContentionProfiling, "contention-profiling", false, "have these profiles tell who waits for locks, which costs time")
	f.DurationVar(&o.RequestTimeout, "request-timeout", o.RequestTimeout, "how long a request other than a watch may take")
	f.IntVar(&o.MinRequestTimeout, "min-request-timeout", o.MinRequestTimeout, "the least number of `seconds` that a watch stays open if the client sets no time")
	f.StringSliceVar(&o.FeatureGates, "feature-gates", nil, "`NAME=true` or false, comma-separated:\n"+options.GateUsage())
	f.StringVar(&o.EmulatedVersion, "emulated-version", "", "the `release` of Kubernetes whose versions and feature gates there are, such as "+lifecycle.Oldest.String()+" or kube="+lifecycle.Oldest.String()+" (default "+lifecycle.Current.String()+")")
	f.StringVar(&o.ShowHiddenMetricsForVersion, "show-hidden-metrics-for-version", "", "the previous `release`, to see metrics that this one hides; no other is taken")
	f.StringSliceVar(&o.DisabledMetrics, "disabled-metrics", nil, "`names` of metrics that are not shown, comma-separated")
	f.IntVar(&o.DeleteCollectionWorkers, "delete-collection-workers", o.DeleteCollectionWorkers, "how `many` objects are deleted at a time when a collection is")
	f.Int64Var(&o.NotReadySeconds, "default-not-ready-toleration-seconds", o.NotReadySeconds, "for how many `seconds` pods tolerate a node that is not ready, if they do not say so (plugin DefaultTolerationSeconds)")
	f.Int64Var(&o.UnreachableSeconds, "default-unreachable-toleration-seconds", o.UnreachableSeconds, "the same for one that cannot be reached")
	f.StringSliceVar(&o.EnableAdmissionPlugins, "enable-admission-plugins", nil, "admission `plugins` to switch on, comma-separated; there are "+options.Plugins())
	f.StringSliceVar(&o.DisableAdmissionPlugins, "disable-admission-plugins", nil, "admission `plugins` to switch off, comma-separated")
	f.StringVar(&o.AdmissionControlConfigFile, "admission-control-config-file", "", "`file` with an AdmissionConfiguration: the folders of policies, webhook configurations and modules that no request changes. Changes in them come into force")
	f.StringSliceVar(&o.Controllers, "controllers", o.Controllers, "the `controllers` that run, comma-separated: '*' for all, NAME for one, -NAME for all but one, as where kube-controller-manager has it; there are "+options.Controllers())
	f.Int64Var(&o.ViewCacheBytes, "view-cache", o.ViewCacheBytes, "how many `bytes` of memory are used to remember objects at other versions, in other encodings and compressed; 0 means any number")
	f.IntVar(&o.MaxRequestBodyBytes, "max-request-body", o.MaxRequestBodyBytes, "the largest request body in `bytes`; the content of modules has a limit of its own")
	f.IntVar(&o.MaxRequestsInFlight, "max-requests-inflight", o.MaxRequestsInFlight, "how `many` requests that only read may be under way; 0 means any number. With --enable-priority-and-fairness, together with --max-mutating-requests-inflight, how many seats there are")
	f.IntVar(&o.MaxMutatingRequestsInFlight, "max-mutating-requests-inflight", o.MaxMutatingRequestsInFlight, "how `many` requests that change something may be under way; 0 means any number")
	f.BoolVar(&o.PriorityAndFairness, "enable-priority-and-fairness", o.PriorityAndFairness, "let requests wait for each other as FlowSchemas and PriorityLevelConfigurations say; without it one user has at most half of what may be under way")
	f.IntVar(&o.MaxWatchesPerUser, "max-watches-per-user", o.MaxWatchesPerUser, "how `many` watches one user may have who is not in system:masters; 0 means any number")
	f.IntVar(&o.MaxConnectionsPerUser, "max-connections-per-user", o.MaxConnectionsPerUser, "how `many` connections one user may have open who is not in system:masters; 0 means any number")
	f.IntVar(&o.MaxConnectionsPerAddress, "max-connections-per-address", o.MaxConnectionsPerAddress, "how `many` connections one address may have open on which nobody was identified; 0 means any number")
	f.Int64Var(&o.MemoryBudget, "memory-budget", 0, "how many `bytes` of memory the gateway may take; 0 means what its control group, or else the machine, has")
	f.Int64Var(&o.MaxDecodingMemory, "max-decoding-memory", o.MaxDecodingMemory, "how many `bytes` of memory decoding the bodies of requests may take at a time, though never less than for the largest body; 0 means any number")
	return f
}

func accessFlags(o *options.Serve) flagGroup {
	f := newGroup("Access")
	f.StringVar(&o.TokenAuthFile, "token-auth-file", "", "CSV `file` of bearer tokens: token,user,uid,\"group1,group2\"")
	f.StringVar(&o.ClientCAFile, "client-ca-file", "", "PEM `file` with the authorities of client certificates")
	f.StringVar(&o.ClusterSigning.CertFile, "cluster-signing-cert-file", "", "PEM `file` with the certificate of the authority that signs certificates of clients (CertificateSigningRequests of kubernetes.io/kube-apiserver-client), which are believed (default clients/ca.crt in --data-dir)")
	f.StringVar(&o.ClusterSigning.KeyFile, "cluster-signing-key-file", "", "PEM `file` with its private key")
	f.DurationVar(&o.ClusterSigning.Duration, "cluster-signing-duration", o.ClusterSigning.Duration, "how long such a certificate lasts, unless less is asked for")
	f.StringVar(&o.ServiceAccountSigningKeyFile, "service-account-signing-key-file", "", "PEM `file` with the private key that signs tokens of service accounts (default sa.key in --data-dir)")
	f.StringArrayVar(&o.ServiceAccountKeyFiles, "service-account-key-file", nil, "PEM `file` with keys that verify tokens of service accounts beside the one that signs them: public, private or certificates; may be set more than once")
	f.StringArrayVar(&o.ServiceAccountIssuers, "service-account-issuer", o.ServiceAccountIssuers, "`who` these tokens say signed them, and whom they are for unless --api-audiences says otherwise; may be set more than once, the first signs and all are believed")
	f.StringSliceVar(&o.APIAudiences, "api-audiences", nil, "`who` tokens for this API are for, comma-separated: those that ask for nobody, and those that are believed; without any that is whoever --service-account-issuer names")
	f.StringVar(&o.ServiceAccountJWKSURI, "service-account-jwks-uri", "", "https `URL` at which others read the keys that verify these tokens, as /.well-known/openid-configuration says (default this gateway's)")
	f.DurationVar(&o.ServiceAccountMaxTokenExpiration, "service-account-max-token-expiration", 0, "the longest that such a token lasts; a request for more gets as much, with a warning; 0 means 2^32 seconds")
	f.BoolVar(&o.ServiceAccountExtendTokenExpiration, "service-account-extend-token-expiration", o.ServiceAccountExtendTokenExpiration, "let the tokens that kubelets give pods last for a year, for programs that never read them again")
	f.BoolVar(&o.AllowPrivileged, "allow-privileged", o.AllowPrivileged, "has to be true: pods may have privileged containers")
	f.BoolVar(&o.AnonymousAuth, "anonymous-auth", o.AnonymousAuth, "let requests without credentials do what roles allow system:unauthenticated; never with the mode AlwaysAllow")
	f.StringVar(&o.ModuleRegistriesFile, "module-registries-file", "", "YAML `file` that says how the registries of modules are reached: by which authorities, certificates and mirrors")
	f.StringVar(&o.ModuleTrustFile, "module-trust-file", "", "YAML `file` of ModuleTrusts, which are in force beside those of the API: whose signatures modules need")
	f.StringVar(&o.WriteKubeconfig, "write-kubeconfig", "", "`file` for the administrator's kubeconfig (default admin.kubeconfig in --data-dir)")
	return f
}

func lifetimeFlags(o *options.Serve) flagGroup {
	f := newGroup("Lifetimes")
	f.DurationVar(&o.EventTTL, "event-ttl", o.EventTTL, "how long Events are kept")
	f.Int64Var(&o.ModuleQuota, "module-quota", o.ModuleQuota, "how many `bytes` of modules are stored in all; 0 means any number")
	moduleMemory(f, &o.ModuleIdleMemory, &o.ModuleCompileMemory, &o.ModuleCompileTime)
	f.Int64Var(&o.ModuleFailedCalls, "module-failed-calls", 0, "how many `bytes` of memory keep calls of modules that failed, with what was sent, for wasmgate module replay; 0 keeps none, as they hold data of tenants")
	f.BoolVar(&o.SafeMode, "safe-mode", false, "load no modules; what needs one fails, everything else works")
	f.DurationVar(&o.LivezGracePeriod, "livez-grace-period", 0, "how long the start may take before /livez tells that it has not ended")
	f.DurationVar(&o.ShutdownDelay, "shutdown-delay-duration", o.ShutdownDelay, "how long the gateway still serves after SIGTERM has made /readyz fail")
	return f
}

func logFlags(l *logOptions) flagGroup {
	f := newGroup("Logging")
	f.IntVarP(&l.verbosity, "v", "v", 0, "log verbosity: 0 normal, 4 debug, 6 trace")
	f.StringVar(&l.format, "log-format", "text", "text or json; --logging-format is the same")
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
