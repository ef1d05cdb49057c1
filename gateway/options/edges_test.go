package options

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// What is at the edge of what a flag takes is taken, and refused is what is beyond.
func TestValidate_Edges(t *testing.T) {
	for _, c := range []struct {
		flag string
		set  func(*Serve, int)
		// least and most are what is taken; there may be no most, which is 0.
		least, most int
	}{
		{"secure-port", func(o *Serve, n int) { o.SecurePort = n }, 0, 65535},
		{"tls-curve-preferences", func(o *Serve, n int) { o.TLS.Curves = []int32{int32(n)} }, 23, 25},
		{"service-account-max-token-expiration", func(o *Serve, n int) { o.ServiceAccountMaxTokenExpiration = time.Duration(n) }, int(time.Hour), 1 << 32 * int(time.Second)},
		{"cluster-signing-duration", func(o *Serve, n int) { o.ClusterSigning.Duration = time.Duration(n) }, int(10 * time.Minute), 0},
		{"memory-budget", func(o *Serve, n int) { o.MemoryBudget = int64(n) }, 256 << 20, 0},
		{"max-decoding-memory", func(o *Serve, n int) { o.MaxDecodingMemory = int64(n) }, 0, 0},
		{"max-requests-inflight", func(o *Serve, n int) { o.MaxRequestsInFlight = n }, 0, 0},
		{"etcd-compaction-interval", func(o *Serve, n int) { o.EtcdCompactionInterval = time.Duration(n) }, 0, 0},
		{"etcd-healthcheck-timeout", func(o *Serve, n int) { o.EtcdHealthcheckTimeout = time.Duration(n) }, 1, 0},
		{"authorization-webhook-cache-authorized-ttl", func(o *Serve, n int) { o.Authorization.Webhook.AuthorizedTTL = time.Duration(n) }, 0, 0},
		{"authorization-webhook-cache-authorized-ttl", func(o *Serve, n int) { o.Authorization.Webhook.UnauthorizedTTL = time.Duration(n) }, 0, 0},
		{"authentication-token-webhook-cache-ttl", func(o *Serve, n int) { o.Authentication.Webhook.CacheTTL = time.Duration(n) }, 0, 0},
		{"audit-log-batch-max-size", func(o *Serve, n int) { o.Audit.Log.MaxSize = n }, 1, 0},
		{"audit-log-truncate-max-event-size", func(o *Serve, n int) { o.Audit.Log.MaxEventBytes = int64(n) }, 1, 0},
		{"audit-webhook-truncate-max-batch-size", func(o *Serve, n int) { o.Audit.Webhook.MaxEventBytes, o.Audit.Webhook.MaxBatchBytes = 5, int64(n) }, 5, 0},
	} {
		edges := map[int]bool{c.least - 1: false, c.least: true}
		if c.most != 0 {
			edges[c.most], edges[c.most+1] = true, false
		}
		for n, good := range edges {
			o := Default()
			c.set(&o, n)
			err := o.Validate()
			if good && err != nil || !good && (err == nil || !strings.HasPrefix(err.Error(), "--"+c.flag+": ")) {
				t.Errorf("--%s with %d: %v", c.flag, n, err)
			}
		}
	}
}

// What is on by itself is what is on in kube-apiserver.
func TestWhatIsOnByDefault(t *testing.T) {
	o := Default()
	for flag, on := range map[string]bool{
		"anonymous-auth": o.AnonymousAuth, "allow-privileged": o.AllowPrivileged, "profiling": o.Profiling,
		"enable-priority-and-fairness": o.PriorityAndFairness, "service-account-extend-token-expiration": o.ServiceAccountExtendTokenExpiration,
	} {
		if !on {
			t.Errorf("--%s is false", flag)
		}
	}
}

// Tokens are for whom the operator says, or for the issuers.
func TestAudiences(t *testing.T) {
	o := Serve{ServiceAccountIssuers: []string{"a", "b"}}
	if got := Audiences(o); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q", got)
	}
	o.APIAudiences = []string{"c"}
	if got := Audiences(o); !slices.Equal(got, o.APIAudiences) {
		t.Errorf("%q", got)
	}
}
