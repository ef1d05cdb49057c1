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
		ServiceAccountIssuers: []string{"a", "", "a", "http://[::1"}, ServiceAccountKeyFiles: []string{""}, ServiceAccountJWKSURI: "http://keys.example", ServiceAccountMaxTokenExpiration: time.Minute,
		ShutdownDelay: -time.Second, LivezGracePeriod: -1, ModuleQuota: -1, ModuleIdleMemory: -1, MaxDecodingMemory: -1, MaxRequestsInFlight: -1, MaxMutatingRequestsInFlight: -1, MaxWatchesPerUser: -1, ViewCacheBytes: 1, ModuleCompileMemory: 1, ModuleCompileTime: 1,
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
		"--max-request-body: ", "--module-quota: must not be negative, got -1", "--view-cache: must be 0, for any number, or at least 16777216 bytes, got 1", "--module-idle-memory: must not be negative, got -1",
		"--max-decoding-memory: must not be negative, got -1", "--max-requests-inflight: ", "--max-mutating-requests-inflight: ", "--max-watches-per-user: must not be negative, got -1",
		"--module-compile-memory: must be 0, for any number, or at least 268435456 bytes, got 1", "--module-compile-time: must be 0, for any time, or at least a second, got 1ns",
		"--service-account-issuer: must not be empty", `--service-account-issuer: "a" is there twice`, `--service-account-issuer: "http://[::1" contains a colon and is no URL: `,
		"--service-account-key-file: must name a file", `--service-account-jwks-uri: "http://keys.example" is no https URL`, "--service-account-max-token-expiration: must be between 1 hour and 2^32 seconds, got 1m0s",
		`--api: must be all or crd, got ""`,
		"--service-cluster-ip-range: ", `--service-node-port-range: "" is not a range such as 30000-32767`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q", want)
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

// A page can be asked for, and a watch go on, for as long as with kube-apiserver.
func TestHistoryIsKeptForFiveMinutes_LIST06(t *testing.T) {
	if kept := Default().EtcdCompactionInterval; kept != 5*time.Minute {
		t.Errorf("history is kept for %v", kept)
	}
}
