package options

import (
	"strings"
	"testing"
	"time"
)

func TestDefaultIsValid(t *testing.T) {
	o := Default()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	if !o.Embedded() || o.KubeconfigPath() != "wasmgate-data/admin.kubeconfig" {
		t.Errorf("embedded %v, kubeconfig %s", o.Embedded(), o.KubeconfigPath())
	}
}

// 0 is no bound where a flag's help says so, and an empty one where nothing else could
// be meant.
func TestValidate_ZeroIsNoBound(t *testing.T) {
	for flag, set := range map[string]func(*Serve){
		"module-quota":             func(o *Serve) { o.ModuleQuota = 0 },
		"module-idle-memory":       func(o *Serve) { o.ModuleIdleMemory = 0 },
		"module-compile-memory":    func(o *Serve) { o.ModuleCompileMemory = 0 },
		"module-compile-time":      func(o *Serve) { o.ModuleCompileTime = 0 },
		"max-decoding-memory":      func(o *Serve) { o.MaxDecodingMemory = 0 },
		"max-watches-per-user":     func(o *Serve) { o.MaxWatchesPerUser = 0 },
		"max-connections-per-user": func(o *Serve) { o.MaxConnectionsPerUser, o.MaxConnectionsPerAddress = 0, 0 },
		"view-cache":               func(o *Serve) { o.ViewCacheBytes = 0 },
		"shutdown-delay-duration":  func(o *Serve) { o.ShutdownDelay = 0 },
		"etcd-compaction-interval": func(o *Serve) { o.EtcdCompactionInterval = 0 },
	} {
		o := Default()
		set(&o)
		if err := o.Validate(); err != nil {
			t.Errorf("--%s=0: %v", flag, err)
		}
	}
}

func TestValidate_ReportsEveryProblem(t *testing.T) {
	o := Serve{
		EtcdServers: []string{"127.0.0.1:2379"}, EtcdPrefix: "registry/", EtcdCertFile: "c",
		EmbeddedEtcdClientURL: "http://127.0.0.1:1", EtcdCompactionInterval: -1,
		BindAddress: "localhost", SecurePort: 70000, TLSCertFile: "c",
		ServiceAccountIssuers: []string{"a", "", "a", "http://[::1"}, ServiceAccountKeyFiles: []string{""}, ServiceAccountJWKSURI: "http://keys.example", ServiceAccountMaxTokenExpiration: time.Minute, ClusterSigning: ClusterSigning{KeyFile: "k"},
		ShutdownDelay: -time.Second, LivezGracePeriod: -1, ModuleQuota: -1, ModuleIdleMemory: -1, ModuleFailedCalls: -1, MaxDecodingMemory: -1, MemoryBudget: 1, MaxRequestsInFlight: -1, MaxMutatingRequestsInFlight: -1, MaxWatchesPerUser: -1, MaxConnectionsPerUser: -1, MaxConnectionsPerAddress: -1, ViewCacheBytes: 1, ModuleCompileMemory: 1, ModuleCompileTime: 1,
	}
	err := o.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		`--etcd-servers: "127.0.0.1:2379" is not a URL such as http://127.0.0.1:2379`,
		"--etcd-prefix: ", "--etcd-certfile: ", "--embedded-etcd-client-url: there is no embedded etcd",
		"--etcd-compaction-interval: ", `--bind-address: "localhost" is not an IP address`,
		"--secure-port: must be between 0 and 65535, got 70000", "--tls-cert-file: ", "--data-dir: ",
		"--event-ttl: ", "--request-timeout: ", "--shutdown-delay-duration: ", "--livez-grace-period: ", "--min-request-timeout: ",
		"--max-request-body: ", "--module-quota: must not be negative, got -1", "--view-cache: must be 0, for any number, or at least 16777216 bytes, got 1", "--module-idle-memory: must not be negative, got -1", "--module-failed-calls: must not be negative, got -1",
		"--memory-budget: must be 0, for what the control group or the machine has, or at least 268435456 bytes, got 1", "--max-decoding-memory: must not be negative, got -1", "--max-requests-inflight: ", "--max-mutating-requests-inflight: ", "--max-watches-per-user: must not be negative, got -1", "--max-connections-per-user: must not be negative, got -1", "--max-connections-per-address: must not be negative, got -1",
		"--module-compile-memory: must be 0, for any number, or at least 268435456 bytes, got 1", "--module-compile-time: must be 0, for any time, or at least a second, got 1ns",
		"--service-account-issuer: must not be empty", `--service-account-issuer: "a" is there twice`, `--service-account-issuer: "http://[::1" contains a colon and is no URL: `,
		"--service-account-key-file: must name a file", `--service-account-jwks-uri: "http://keys.example" is no https URL`, "--service-account-max-token-expiration: must be between 1 hour and 2^32 seconds, got 1m0s",
		"--cluster-signing-cert-file: and --cluster-signing-key-file must be set together", "--cluster-signing-duration: must be 10 minutes at least, got 0s",
		`--api: must be all or crd, got ""`,
		"--service-cluster-ip-range: ", `--service-node-port-range: "" is not a range such as 30000-32767`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q", want)
		}
	}
}

// The least and the most that a flag takes are what its help says, and the next value is
// refused by its name.
func TestValidate_Bounds(t *testing.T) {
	for _, tc := range []struct {
		flag, value string
		set         func(*Serve)
		good        bool
	}{
		{"min-request-timeout", "1", func(o *Serve) { o.MinRequestTimeout = 1 }, true},
		{"min-request-timeout", "0", func(o *Serve) { o.MinRequestTimeout = 0 }, false},
		{"event-ttl", "1ns", func(o *Serve) { o.EventTTL = 1 }, true},
		{"event-ttl", "0s", func(o *Serve) { o.EventTTL = 0 }, false},
		{"request-timeout", "0s", func(o *Serve) { o.RequestTimeout = 0 }, false},
		{"max-request-body", "1024", func(o *Serve) { o.MaxRequestBodyBytes = 1024 }, true},
		{"max-request-body", "1023", func(o *Serve) { o.MaxRequestBodyBytes = 1023 }, false},
		{"view-cache", "16777216", func(o *Serve) { o.ViewCacheBytes = leastViewCache }, true},
		{"view-cache", "16777215", func(o *Serve) { o.ViewCacheBytes = leastViewCache - 1 }, false},
		{"module-compile-memory", "268435456", func(o *Serve) { o.ModuleCompileMemory = leastCompileMemory }, true},
		{"module-compile-memory", "268435455", func(o *Serve) { o.ModuleCompileMemory = leastCompileMemory - 1 }, false},
		{"module-compile-time", "1s", func(o *Serve) { o.ModuleCompileTime = time.Second }, true},
		{"module-compile-time", "999.999999ms", func(o *Serve) { o.ModuleCompileTime = time.Second - 1 }, false},
		{"audit-webhook-initial-backoff", "1ns", func(o *Serve) { o.Audit.WebhookInitialBackoff = 1 }, true},
		{"audit-webhook-initial-backoff", "0s", func(o *Serve) { o.Audit.WebhookInitialBackoff = 0 }, false},
		{"audit-unidentified-per-minute", "0", func(o *Serve) { o.Audit.UnknownPerMinute = 0 }, true},
		{"audit-unidentified-per-minute", "-1", func(o *Serve) { o.Audit.UnknownPerMinute = -1 }, false},
		{"audit-log-maxage", "0", func(o *Serve) { o.Audit.LogMaxAge = 0 }, true},
		{"audit-log-maxage", "-1", func(o *Serve) { o.Audit.LogMaxAge = -1 }, false},
		{"audit-log-batch-buffer-size", "10000000", func(o *Serve) { o.Audit.Log.BufferSize = maxAuditBuffer }, true},
		{"audit-log-batch-buffer-size", "10000001", func(o *Serve) { o.Audit.Log.BufferSize = maxAuditBuffer + 1 }, false},
		{"audit-log-batch-max-size", "0", func(o *Serve) { o.Audit.Log.MaxSize = 0 }, false},
		{"audit-webhook-batch-max-wait", "0s", func(o *Serve) { o.Audit.Webhook.MaxWait = 0 }, true},
		{"audit-webhook-batch-throttle-qps", "0", func(o *Serve) { o.Audit.Webhook.QPS = 0 }, false},
		{"service-cluster-ip-range", "10.0.0.0/29", func(o *Serve) { o.ServiceClusterIPRange = "10.0.0.0/29" }, true},
		{"service-cluster-ip-range", "10.0.0.0/30", func(o *Serve) { o.ServiceClusterIPRange = "10.0.0.0/30" }, false},
		{"service-cluster-ip-range", "fd00::/125", func(o *Serve) { o.ServiceClusterIPRange = "fd00::/125" }, true},
		{"service-cluster-ip-range", "fd00::/126", func(o *Serve) { o.ServiceClusterIPRange = "fd00::/126" }, false},
		{"service-cluster-ip-range", "fd00::/112,10.0.0.0/16", func(o *Serve) { o.ServiceClusterIPRange = "fd00::/112,10.0.0.0/16" }, true},
		{"service-cluster-ip-range", "10.1.0.0/16,10.0.0.0/16", func(o *Serve) { o.ServiceClusterIPRange = "10.1.0.0/16,10.0.0.0/16" }, false},
		{"service-cluster-ip-range", "fd00::/112,10.0.0.0/16,10.1.0.0/16", func(o *Serve) { o.ServiceClusterIPRange = "fd00::/112,10.0.0.0/16,10.1.0.0/16" }, false},
		{"service-node-port-range", "1-65535", func(o *Serve) { o.ServiceNodePortRange = "1-65535" }, true},
		{"service-node-port-range", "0-65535", func(o *Serve) { o.ServiceNodePortRange = "0-65535" }, false},
		{"service-node-port-range", "1-65536", func(o *Serve) { o.ServiceNodePortRange = "1-65536" }, false},
		{"service-node-port-range", "5-5", func(o *Serve) { o.ServiceNodePortRange = "5-5" }, true},
		{"service-node-port-range", "6-5", func(o *Serve) { o.ServiceNodePortRange = "6-5" }, false},
	} {
		o := Default()
		tc.set(&o)
		err := o.Validate()
		if tc.good && err != nil || !tc.good && (err == nil || !strings.HasPrefix(err.Error(), "--"+tc.flag+": ") || !strings.Contains(err.Error(), tc.value)) {
			t.Errorf("--%s=%s: %v", tc.flag, tc.value, err)
		}
	}
}

// Nobody is asked who they are, so only this machine may ask.
func TestValidate_EmbeddedEtcdIsNotOpenedByMistake(t *testing.T) {
	for url, want := range map[string]string{
		"http://127.0.0.1:2379": "", "http://127.9.9.9:1": "", "http://[::1]:2379": "", "http://localhost:2379": "", "unix:///run/etcd.sock": "",
		"http://0.0.0.0:2379": "no loopback", "http://[::]:2379": "no loopback", "http://192.0.2.1:2379": "no loopback", "http://:2379": "no loopback",
		"http://example.com:2379": "no loopback", "http://[::ffff:192.0.2.1]:2379": "no loopback", "http://localhost.example.com:1": "no loopback",
		"https://127.0.0.1:2379": "is not a URL such as", "127.0.0.1:2379": "is not a URL such as", "unix://": "is not a URL such as",
	} {
		o := Default()
		o.EmbeddedEtcdClientURL = url
		err := o.Validate()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
		if o.EmbeddedEtcdOpen = true; want == "no loopback" {
			if err := o.Validate(); err != nil {
				t.Errorf("%s is meant: %v", url, err)
			}
		}
	}
}

func TestValidate_EmbeddedEtcd(t *testing.T) {
	o := Default()
	o.EmbeddedEtcdClientURL = "http://127.0.0.1:2379"
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
	o.EtcdCAFile = "ca"
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "--etcd-cafile") {
		t.Errorf("certificates for the embedded etcd: %v", err)
	}
}

// What is sent to a server of events is bounded, as kube-apiserver's defaults have it, and
// what goes to a file is not.
func TestEventsAreSentNoFasterThanTheDefaults(t *testing.T) {
	a := Default().Audit
	if w := a.Webhook; !w.Throttle || w.QPS != 10 || w.Burst != 15 || w.MaxWait != 30*time.Second {
		t.Errorf("what is sent: %+v", w)
	}
	if a.Log.Throttle || a.Log.MaxWait != 0 {
		t.Errorf("what is written: %+v", a.Log)
	}
}

// A page can be asked for, and a watch go on, for as long as with kube-apiserver.
func TestHistoryIsKeptForFiveMinutes_LIST06(t *testing.T) {
	if kept := Default().EtcdCompactionInterval; kept != 5*time.Minute {
		t.Errorf("history is kept for %v", kept)
	}
}
